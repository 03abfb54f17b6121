/*
 * A host with an event loop of its own: one thread, one poll, and the pool is one descriptor among others.
 *
 *     loop '{"demo": {"command": "...", "args": [...]}}'
 *
 * Nothing here blocks but `poll`. The loop has timers, the pool's queue, and whatever else the host has.
 */
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <trunkline.h>

static const trunkline_str none = {NULL, 0};

/* What the items of the queue answer. */
enum tag { RECONCILED, ACQUIRED, ECHOED, SLEPT, ASKED_TO_CHANGE, CHANGED, DRAINED };

struct host {
    trunkline_pool *pool;
    trunkline_queue *queue;
    uint64_t session, lease, slow_call;
    long long cancel_at; /* In milliseconds; 0 for no timer. */
    int echoes_left, has_changed;
    int is_running;
};

static void check(trunkline_status status, trunkline_error *error)
{
    if (status == TRUNKLINE_STATUS_OK)
        return;
    trunkline_str message = trunkline_error_message(error);
    fprintf(stderr, "%.*s\n", (int)message.len, message.ptr);
    exit(1);
}

static trunkline_str text(const char *text)
{
    return TRUNKLINE_TEXT(text, strlen(text));
}

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void call(struct host *host, const char *tool, const char *arguments, enum tag tag, uint64_t *op)
{
    trunkline_error *error = NULL;
    check(trunkline_lease_call_tool_enqueue(host->pool, host->lease, text(tool), text(arguments), NULL, host->queue, tag, op,
                                            &error),
          error);
}

/* A server is there: ten calls side by side, and one that is too slow for a timer. */
static void on_acquired(struct host *host, uint64_t lease)
{
    host->lease = lease;
    host->echoes_left = 10;
    for (int i = 0; i < host->echoes_left; i++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "{\"message\": \"call %d\"}", i);
        call(host, "echo", arguments, ECHOED, NULL);
    }
    call(host, "sleep", "{\"ms\": 600000}", SLEPT, &host->slow_call);
    host->cancel_at = now_ms() + 50;
}

static void on_echoed(struct host *host)
{
    if (--host->echoes_left == 0) {
        puts("ten calls were answered");
        call(host, "change_list", "{\"add\": \"fresh\"}", ASKED_TO_CHANGE, NULL);
    }
}

static void on_item(struct host *host, const trunkline_item *item)
{
    trunkline_error *error = NULL;
    if (item->kind == TRUNKLINE_ITEM_KIND_END)
        return;
    if (item->tag == SLEPT && item->status == TRUNKLINE_STATUS_CANCELLED) {
        puts("the slow call was cancelled by a timer");
        check(trunkline_pool_drain_all_enqueue(host->pool, none, host->queue, DRAINED, NULL, &error), error);
        return;
    }
    if (item->kind == TRUNKLINE_ITEM_KIND_DONE)
        check(item->status, item->error);
    switch ((enum tag)item->tag) {
    case RECONCILED:
        check(trunkline_session_acquire_enqueue(host->pool, host->session, text("demo"), none, none, host->queue, ACQUIRED, NULL,
                                                &error),
              error);
        break;
    case ACQUIRED:
        on_acquired(host, item->handle);
        break;
    case ECHOED:
        on_echoed(host);
        break;
    case ASKED_TO_CHANGE:
        break;
    case CHANGED:
        puts("the tools changed");
        host->has_changed = 1;
        break;
    case SLEPT:
        puts("nobody cancelled the slow call");
        exit(1);
    case DRAINED:
        puts("all is drained");
        host->is_running = 0;
        break;
    }
}

/* Until the next timer; a timer whose time has come is carried out. The slow call goes once all else was heard of. */
static int timers(struct host *host)
{
    trunkline_error *error = NULL;
    if (host->cancel_at == 0)
        return 30000;
    long long left = host->cancel_at - now_ms();
    if (left > 0)
        return (int)left;
    if (!host->has_changed)
        return 10;
    host->cancel_at = 0;
    check(trunkline_op_cancel(host->pool, host->slow_call, &error), error);
    return 30000;
}

static void loop(struct host *host)
{
    trunkline_error *error = NULL;
    struct pollfd polled[] = {{trunkline_queue_fd(host->queue), POLLIN, 0}};
    host->is_running = 1;
    while (host->is_running) {
        int ready = poll(polled, sizeof polled / sizeof *polled, timers(host));
        if (ready < 0) {
            perror("poll");
            exit(1);
        }
        if (!(polled[0].revents & POLLIN))
            continue;
        trunkline_item items[16];
        size_t count = 0;
        check(trunkline_queue_drain(host->queue, items, sizeof items / sizeof *items, &count, &error), error);
        for (size_t i = 0; i < count; i++) {
            on_item(host, &items[i]);
            trunkline_item_clear(&items[i]);
        }
    }
}

int main(int argc, char **argv)
{
    struct host host = {0};
    trunkline_error *error = NULL;
    uint64_t subscription;
    if (argc != 2) {
        fputs("usage: loop SERVERS-JSON\n", stderr);
        return 1;
    }
    check(trunkline_pool_new(none, &host.pool, &error), error);
    check(trunkline_queue_new(&host.queue, &error), error);
    check(trunkline_session_open(host.pool, text("{\"id\": \"loop\", \"servers\": []}"), &host.session, &error), error);
    check(trunkline_session_subscribe_queue(host.pool, host.session, TRUNKLINE_MASK(TRUNKLINE_EVENT_TOOLS_CHANGED), host.queue,
                                            CHANGED, &subscription, NULL, &error),
          error);
    check(trunkline_pool_reconcile_enqueue(host.pool, text(argv[1]), host.queue, RECONCILED, NULL, &error), error);
    loop(&host);
    check(trunkline_pool_close(host.pool, TRUNKLINE_DEFAULT, &error), error);
    trunkline_pool_free(host.pool);
    trunkline_queue_free(host.queue);
    return 0;
}
