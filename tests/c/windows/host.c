/* What holds on Windows as elsewhere: calls, what becomes of a server's processes, failures with a type. The server is that of server.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "json.h"
#include "trunkline.h"

#define TEXT_OF TRUNKLINE_LITERAL
#define CHECK(holds) ((holds) ? (void)0 : fail_check(__LINE__, #holds))
#define RUN(test) (test(), passed++, printf("ok %s\n", #test))

enum { MANY = 200, LOOKS = 3000, LOOK_MS = 10 };

static const trunkline_str none = {NULL, 0};
static trunkline_error *error;
static int passed;

typedef struct {
    trunkline_pool *pool;
    uint64_t session;
    uint64_t lease;
} scene;

static void fail_check(int line, const char *what)
{
    trunkline_str message = trunkline_error_message(error);
    fprintf(stderr, "line %d: not so: %s: %.*s\n", line, what, (int)message.len, message.ptr);
    exit(1);
}

static scene open_scene(void)
{
    scene s = {0};
    trunkline_str options = TEXT_OF("{\"reconnect\": {\"delays_ms\": {\"local\": [10, 10, 10]}}}");
    CHECK(trunkline_pool_new(options, &s.pool, &error) == TRUNKLINE_STATUS_OK);
    CHECK(trunkline_session_open(s.pool, TEXT_OF("{\"id\": \"a\"}"), &s.session, &error) == TRUNKLINE_STATUS_OK);
    CHECK(trunkline_session_acquire(s.pool, s.session, TEXT_OF("s"), TEXT_OF("{\"command\": \"trunkline-testserver\"}"), none, &s.lease,
                                    &error) == TRUNKLINE_STATUS_OK);
    return s;
}

static void close_scene(const scene *s)
{
    CHECK(trunkline_pool_close(s->pool, TRUNKLINE_DEFAULT, &error) == TRUNKLINE_STATUS_OK);
    trunkline_pool_free(s->pool);
}

/* The text that a tool answers with, or the failure of the call. */
static trunkline_status call(const scene *s, const char *tool, const char *message, char answer[64])
{
    char arguments[96];
    trunkline_buf *buf = NULL;
    trunkline_str name = TRUNKLINE_TEXT(tool, strlen(tool));
    snprintf(arguments, sizeof arguments, "{\"message\": \"%s\"}", message);
    trunkline_str text = TRUNKLINE_TEXT(arguments, strlen(arguments));
    trunkline_error_free(error);
    error = NULL;
    trunkline_status status = trunkline_lease_call_tool(s->pool, s->lease, name, text, NULL, &buf, &error);
    if (status == TRUNKLINE_STATUS_OK) {
        json *result = json_parse(trunkline_buf_str(buf).ptr, trunkline_buf_str(buf).len);
        snprintf(answer, 64, "%s", json_text(json_get(json_at(json_get(result, "content"), 0), "text")));
        json_free(result);
    }
    trunkline_buf_free(buf);
    return status;
}

static unsigned long process_of(const scene *s, const char *tool)
{
    char answer[64];
    CHECK(call(s, tool, "", answer) == TRUNKLINE_STATUS_OK);
    return strtoul(answer, NULL, 10);
}

static int is_running(unsigned long pid)
{
    HANDLE process = OpenProcess(SYNCHRONIZE, FALSE, pid);
    int is = process && WaitForSingleObject(process, 0) == WAIT_TIMEOUT;
    if (process)
        CloseHandle(process);
    return is;
}

static void wait_for_end(unsigned long pid)
{
    for (int look = 0; is_running(pid); look++) {
        CHECK(look < LOOKS);
        Sleep(LOOK_MS);
    }
}

static void a_tool_is_called_again_and_again(void)
{
    scene s = open_scene();
    char wanted[64], answer[64];
    for (int i = 0; i < MANY; i++) {
        snprintf(wanted, sizeof wanted, "<%d>", i);
        CHECK(call(&s, "echo", wanted, answer) == TRUNKLINE_STATUS_OK);
        CHECK(strcmp(answer, wanted) == 0);
    }
    close_scene(&s);
}

static void a_close_ends_a_server_and_what_it_started(void)
{
    scene s = open_scene();
    unsigned long server = process_of(&s, "pid"), helper = process_of(&s, "helper");
    CHECK(is_running(server) && is_running(helper));
    close_scene(&s);
    wait_for_end(server);
    wait_for_end(helper);
}

static void a_server_that_is_lost_is_started_anew(void)
{
    scene s = open_scene();
    char answer[64];
    unsigned long server = process_of(&s, "pid"), helper = process_of(&s, "helper");
    CHECK(call(&s, "exit", "", answer) == TRUNKLINE_STATUS_CALL_INTERRUPTED);
    wait_for_end(server);
    wait_for_end(helper);
    for (int look = 0; call(&s, "echo", "back", answer) != TRUNKLINE_STATUS_OK; look++) {
        CHECK(look < LOOKS);
        Sleep(LOOK_MS);
    }
    CHECK(strcmp(answer, "back") == 0 && process_of(&s, "pid") != server);
    close_scene(&s);
}

static void a_program_that_is_not_there_is_named(void)
{
    scene s = open_scene();
    uint64_t lease = 0;
    trunkline_status status = trunkline_session_acquire(s.pool, s.session, TEXT_OF("t"), TEXT_OF("{\"command\": \"no-such-program\"}"), none,
                                                        &lease, &error);
    CHECK(status == TRUNKLINE_STATUS_SPAWN_FAILED && strstr(trunkline_error_message(error).ptr, "no-such-program"));
    close_scene(&s);
}

static void a_queue_has_no_descriptor_and_is_waited_for(void)
{
    scene s = open_scene();
    trunkline_queue *queue = NULL;
    trunkline_item item;
    size_t count = 0;
    CHECK(trunkline_queue_new(&queue, &error) == TRUNKLINE_STATUS_OK && trunkline_queue_fd(queue) == -1);
    CHECK(trunkline_lease_call_tool_enqueue(s.pool, s.lease, TEXT_OF("pid"), none, NULL, queue, 7, NULL, &error) == TRUNKLINE_STATUS_OK);
    CHECK(trunkline_queue_wait(queue, 30000, &error) == TRUNKLINE_STATUS_OK);
    CHECK(trunkline_queue_drain(queue, &item, 1, &count, &error) == TRUNKLINE_STATUS_OK);
    CHECK(count == 1 && item.tag == 7 && item.buf);
    CHECK(trunkline_queue_wait(queue, 0, NULL) == TRUNKLINE_STATUS_TIMEOUT);
    trunkline_item_clear(&item);
    trunkline_queue_free(queue);
    close_scene(&s);
}

int main(void)
{
    RUN(a_tool_is_called_again_and_again);
    RUN(a_close_ends_a_server_and_what_it_started);
    RUN(a_server_that_is_lost_is_started_anew);
    RUN(a_program_that_is_not_there_is_named);
    RUN(a_queue_has_no_descriptor_and_is_waited_for);
    trunkline_error_free(error);
    printf("%d passed, 0 failed\n", passed);
    return 0;
}
