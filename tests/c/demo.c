/*
 * trunkline in C: two sessions share one server process.
 *
 *     demo '{"demo": {"command": "...", "args": [...]}}'
 *
 * One JSON object a line goes to standard output for each thing done; what goes wrong is said on standard error.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trunkline.h>

#include "json.h"

static const trunkline_str none = {NULL, 0};

/* What the tags of the queue stand for. */
enum { ALPHA, BETA, ALPHA_EVENTS, BETA_EVENTS };

static const char *const names[] = {"alpha", "beta"};

/* Ends the program when something failed. */
static void check(trunkline_status status, trunkline_error *error)
{
    if (status == TRUNKLINE_STATUS_OK)
        return;
    trunkline_str name = trunkline_error_name(error), message = trunkline_error_message(error);
    fprintf(stderr, "%.*s: %.*s\n", (int)name.len, name.ptr, (int)message.len, message.ptr);
    exit(1);
}

static trunkline_str text(const char *text)
{
    return TRUNKLINE_TEXT(text, strlen(text));
}

/* Parses what the library gave, and frees it. */
static json *parsed(trunkline_buf *buf)
{
    trunkline_str text = trunkline_buf_str(buf);
    json *value = json_parse(text.ptr, text.len);
    trunkline_buf_free(buf);
    if (!value) {
        fputs("the library gave a text that is not JSON\n", stderr);
        exit(1);
    }
    return value;
}

/* Waits for the next item of the queue; a host with a loop of its own polls the descriptor there. */
static trunkline_item next_item(trunkline_queue *queue)
{
    trunkline_item item;
    trunkline_error *error = NULL;
    size_t count = 0;
    while (count == 0) {
        struct pollfd polled = {trunkline_queue_fd(queue), POLLIN, 0};
        if (poll(&polled, 1, 30000) != 1) {
            fputs("nothing happened for 30 s\n", stderr);
            exit(1);
        }
        check(trunkline_queue_drain(queue, &item, 1, &count, &error), error);
    }
    if (item.kind == TRUNKLINE_ITEM_KIND_DONE)
        check(item.status, item.error);
    return item;
}

static void say_call(const char *session, const char *tool, trunkline_buf *buf)
{
    json *result = parsed(buf);
    char *said = json_write(json_get(json_at(json_get(result, "content"), 0), "text"));
    printf("{\"step\": \"call\", \"session\": \"%s\", \"tool\": \"%s\", \"text\": %s}\n", session, tool, said);
    free(said);
    json_free(result);
}

/* Both sessions acquire the server at the same time; the leases come out of the queue. */
static void acquire_both(trunkline_pool *pool, trunkline_queue *queue, const uint64_t sessions[2], uint64_t leases[2])
{
    trunkline_error *error = NULL;
    for (int who = ALPHA; who <= BETA; who++)
        check(trunkline_session_acquire_enqueue(pool, sessions[who], text("demo"), none, none, queue, (uint64_t)who, NULL, &error),
              error);
    for (int i = 0; i < 2; i++) {
        trunkline_item item = next_item(queue);
        leases[item.tag] = item.handle;
    }
    for (int who = ALPHA; who <= BETA; who++)
        printf("{\"step\": \"acquire\", \"session\": \"%s\", \"server\": \"demo\"}\n", names[who]);
}

/* The server's list changes; both sessions hear of it. */
static void change_list(trunkline_pool *pool, trunkline_queue *queue, const uint64_t sessions[2], uint64_t lease)
{
    trunkline_error *error = NULL;
    trunkline_buf *buf = NULL;
    uint64_t subscription;
    char *added[2] = {NULL, NULL};
    for (int who = ALPHA; who <= BETA; who++)
        check(trunkline_session_subscribe_queue(pool, sessions[who], TRUNKLINE_MASK(TRUNKLINE_EVENT_TOOLS_CHANGED), queue,
                                                (uint64_t)(ALPHA_EVENTS + who), &subscription, NULL, &error),
              error);
    check(trunkline_lease_call_tool(pool, lease, text("change_list"), text("{\"add\": \"fresh\"}"), NULL, &buf, &error), error);
    trunkline_buf_free(buf);
    while (!added[ALPHA] || !added[BETA]) {
        trunkline_item item = next_item(queue);
        json *event = parsed(item.buf);
        size_t who = item.tag - ALPHA_EVENTS;
        free(added[who]);
        added[who] = json_write(json_get(event, "added"));
        json_free(event);
    }
    for (int who = ALPHA; who <= BETA; who++) {
        printf("{\"step\": \"change\", \"session\": \"%s\", \"added\": %s}\n", names[who], added[who]);
        free(added[who]);
    }
}

static void drain(trunkline_pool *pool)
{
    trunkline_error *error = NULL;
    trunkline_buf *buf = NULL;
    check(trunkline_pool_drain_all(pool, none, &buf, &error), error);
    json *report = parsed(buf);
    printf("{\"step\": \"drain\", \"drained\": %.0f, \"forced\": %.0f}\n", json_number(json_get(report, "drained")),
           json_number(json_get(report, "forced")));
    json_free(report);
    check(trunkline_pool_close(pool, TRUNKLINE_DEFAULT, &error), error);
}

int main(int argc, char **argv)
{
    trunkline_error *error = NULL;
    trunkline_pool *pool = NULL;
    trunkline_queue *queue = NULL;
    trunkline_buf *buf = NULL;
    uint64_t sessions[2], leases[2];
    if (argc != 2) {
        fputs("usage: demo SERVERS-JSON\n", stderr);
        return 1;
    }
    check(trunkline_pool_new(none, &pool, &error), error);
    check(trunkline_queue_new(&queue, &error), error);
    check(trunkline_pool_reconcile(pool, text(argv[1]), &buf, &error), error);
    trunkline_buf_free(buf);
    puts("{\"step\": \"pool\"}");

    for (int who = ALPHA; who <= BETA; who++) {
        char options[64];
        snprintf(options, sizeof options, "{\"id\": \"%s\"}", names[who]);
        check(trunkline_session_open(pool, text(options), &sessions[who], &error), error);
    }
    acquire_both(pool, queue, sessions, leases);
    for (int who = ALPHA; who <= BETA; who++) {
        check(trunkline_lease_call_tool(pool, leases[who], text("pid"), none, NULL, &buf, &error), error);
        say_call(names[who], "pid", buf);
    }
    check(trunkline_session_call_tool(pool, sessions[BETA], text("mcp__demo__echo"),
                                      text("{\"message\": \"hello from C\"}"), NULL, &buf, &error),
          error);
    say_call("beta", "mcp__demo__echo", buf);
    change_list(pool, queue, sessions, leases[ALPHA]);
    for (int who = ALPHA; who <= BETA; who++) {
        check(trunkline_lease_release(pool, leases[who], &error), error);
        printf("{\"step\": \"release\", \"session\": \"%s\"}\n", names[who]);
    }
    drain(pool);
    trunkline_pool_free(pool);
    trunkline_queue_free(queue);
    return 0;
}
