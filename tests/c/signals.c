/* Hosts with odd signal setups: SIGPIPE that kills, SIGCHLD that is ignored, and a loop that waits for any child. */
#define _POSIX_C_SOURCE 200809L
#include "fixture.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static const trunkline_str none = {NULL, 0};

/* A server that crashes amid calls: writes to it go to a closed pipe. */
static void crash_amid_calls(void)
{
    scene s = open_scene("", "");
    uint64_t lease = acquire(&s);
    trunkline_buf *buf = NULL;
    trunkline_queue *queue = NULL;
    trunkline_item item;
    size_t count;
    OK(trunkline_queue_new(&queue, &err));
    OK(trunkline_lease_call_tool_enqueue(s.pool, lease, TRUNKLINE_LITERAL("crash"), none, NULL, queue, 0, NULL, &err));
    for (int i = 1; i < 200; i++)
        OK(trunkline_lease_call_tool_enqueue(s.pool, lease, TRUNKLINE_LITERAL("echo"), TRUNKLINE_LITERAL("{\"message\":\"m\"}"),
                                             NULL, queue, 1, NULL, &err));
    for (int left = 200; left > 0;) {
        OK(trunkline_queue_drain(queue, &item, 1, &count, &err));
        if (count == 0) {
            pause_ms(1);
            continue;
        }
        CHECK(item.tag == 1 || item.status == TRUNKLINE_STATUS_CALL_INTERRUPTED);
        trunkline_item_clear(&item);
        left--;
    }
    UNTIL(trunkline_lease_call_tool(s.pool, lease, TRUNKLINE_LITERAL("pid"), none, NULL, &buf, NULL) == TRUNKLINE_STATUS_OK);
    trunkline_buf_free(buf);
    close_scene(&s);
    trunkline_queue_free(queue);
}

/* I-22 */
static void a_host_with_sigpipe_default_survives_a_closed_pipe(void)
{
    signal(SIGPIPE, SIG_DFL);
    for (int round = 0; round < 30; round++)
        crash_amid_calls();
    struct sigaction after;
    CHECK(sigaction(SIGPIPE, NULL, &after) == 0 && after.sa_handler == SIG_DFL);
}

/* I-22 */
static void a_host_that_ignores_sigchld_sees_servers_come_and_go(void)
{
    signal(SIGCHLD, SIG_IGN);
    for (int round = 0; round < 30; round++) {
        scene s = open_scene("", "");
        acquire(&s);
        close_scene(&s);
    }
    struct sigaction after;
    CHECK(sigaction(SIGCHLD, NULL, &after) == 0 && after.sa_handler == SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
}

static volatile sig_atomic_t reaping = 1;

static void *reap_any_child(void *unused)
{
    while (reaping) {
        if (waitpid(-1, NULL, 0) < 0 && errno == ECHILD)
            pause_ms(1);
    }
    return unused;
}

/* I-22 */
static void a_host_that_waits_for_any_child_takes_nothing_away(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, reap_any_child, NULL) == 0);
    for (int round = 0; round < 30; round++) {
        scene s = open_scene("", "");
        acquire(&s);
        close_scene(&s);
    }
    reaping = 0;
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    begin_program(argc, argv);
    RUN(a_host_with_sigpipe_default_survives_a_closed_pipe);
    RUN(a_host_that_ignores_sigchld_sees_servers_come_and_go);
    RUN(a_host_that_waits_for_any_child_takes_nothing_away);
    score("hosts/c", tests_run);
    return 0;
}
