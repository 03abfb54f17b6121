/* A host with a loop of its own: poll, drain, cancel. */
#define _POSIX_C_SOURCE 200809L
#include "fixture.h"

#include <fcntl.h>
#include <poll.h>

static const trunkline_str none = {NULL, 0};

/* Waits for the descriptor, then takes one item. */
static trunkline_item next_item(trunkline_queue *queue)
{
    trunkline_item item;
    size_t count = 0;
    while (count == 0) {
        struct pollfd polled = {trunkline_queue_fd(queue), POLLIN, 0};
        CHECK(poll(&polled, 1, 30000) == 1);
        OK(trunkline_queue_drain(queue, &item, 1, &count, &err));
    }
    return item;
}

static bool is_readable(trunkline_queue *queue)
{
    struct pollfd polled = {trunkline_queue_fd(queue), POLLIN, 0};
    return poll(&polled, 1, 0) == 1;
}

/* SPEC 16.1 */
static void results_come_out_with_their_tags(void)
{
    scene s = open_scene("", "");
    trunkline_queue *queue = NULL;
    OK(trunkline_queue_new(&queue, &err));
    CHECK(!is_readable(queue));
    OK(trunkline_session_acquire_enqueue(s.pool, s.session, TRUNKLINE_LITERAL("s"), none, none, queue, 11, NULL, &err));
    trunkline_item item = next_item(queue);
    CHECK(item.tag == 11 && item.kind == TRUNKLINE_ITEM_KIND_DONE && item.status == TRUNKLINE_STATUS_OK && item.handle);
    uint64_t lease = item.handle;
    for (uint64_t tag = 0; tag < 64; tag++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "{\"message\":\"%d\"}", (int)tag);
        OK(trunkline_lease_call_tool_enqueue(s.pool, lease, TRUNKLINE_LITERAL("echo"), text_of(arguments), NULL, queue, tag,
                                             NULL, &err));
    }
    for (int left = 64; left > 0; left--) {
        char wanted[16];
        item = next_item(queue);
        snprintf(wanted, sizeof wanted, "%d", (int)item.tag);
        CHECK(item.status == TRUNKLINE_STATUS_OK && take_text(item.buf, wanted));
    }
    CHECK(!is_readable(queue));
    close_scene(&s);
    trunkline_queue_free(queue);
}

/* SPEC 5.5, I-17 */
static void a_cancelled_call_ends_at_once_and_once(void)
{
    scene s = open_scene("", "");
    uint64_t lease = acquire(&s), op = 0;
    trunkline_queue *queue = NULL;
    trunkline_buf *buf = NULL;
    OK(trunkline_queue_new(&queue, &err));
    OK(trunkline_lease_call_tool_enqueue(s.pool, lease, TRUNKLINE_LITERAL("sleep"), TRUNKLINE_LITERAL("{\"ms\":60000}"), NULL,
                                         queue, 1, &op, &err));
    OK(trunkline_op_cancel(s.pool, op, &err));
    OK(trunkline_op_cancel(s.pool, op, &err));
    trunkline_item item = next_item(queue);
    CHECK(item.tag == 1 && item.status == TRUNKLINE_STATUS_CANCELLED);
    CHECK(trunkline_error_code(item.error) == TRUNKLINE_STATUS_CANCELLED);
    trunkline_item_clear(&item);
    CHECK(item.error == NULL);
    OK(trunkline_lease_call_tool(s.pool, lease, TRUNKLINE_LITERAL("echo"), TRUNKLINE_LITERAL("{\"message\":\"m\"}"), NULL, &buf,
                                 &err));
    CHECK(take_text(buf, "m") && !is_readable(queue));
    OK(trunkline_op_cancel(s.pool, op, &err));
    close_scene(&s);
    trunkline_queue_free(queue);
}

/* SPEC 3.4 */
static void a_cancelled_acquire_leaves_nothing(void)
{
    scene s = open_scene("{\"drain_delay_ms\":50}", "\"--initialize-delay-ms\",\"3000\"");
    trunkline_queue *queue = NULL;
    uint64_t op = 0;
    OK(trunkline_queue_new(&queue, &err));
    OK(trunkline_session_acquire_enqueue(s.pool, s.session, TRUNKLINE_LITERAL("s"), none, none, queue, 1, &op, &err));
    OK(trunkline_op_cancel(s.pool, op, &err));
    trunkline_item item = next_item(queue);
    CHECK(item.status == TRUNKLINE_STATUS_CANCELLED && item.handle == 0);
    trunkline_item_clear(&item);
    UNTIL(processes_of(s.log) == 0);
    close_scene(&s);
    trunkline_queue_free(queue);
}

/* SPEC 5.9: progress in order, before the result. */
static void progress_comes_before_the_result(void)
{
    scene s = open_scene("", "");
    uint64_t lease = acquire(&s), subscription = 0;
    trunkline_queue *queue = NULL;
    trunkline_call_options options = TRUNKLINE_CALL_OPTIONS_INIT;
    uint64_t number = 0, before = 0;
    options.progress = 1;
    options.out_call = &number;
    OK(trunkline_queue_new(&queue, &err));
    OK(trunkline_session_subscribe_queue(s.pool, s.session, TRUNKLINE_MASK(TRUNKLINE_EVENT_PROGRESS), queue, 2, &subscription,
                                         NULL, &err));
    for (int round = 0; round < 20; round++) {
        OK(trunkline_lease_call_tool_enqueue(s.pool, lease, TRUNKLINE_LITERAL("progress"), TRUNKLINE_LITERAL("{\"steps\":5}"),
                                             &options, queue, 1, NULL, &err));
        CHECK(number > before);
        before = number;
        for (int step = 1; step <= 5; step++) {
            trunkline_item item = next_item(queue);
            CHECK(item.tag == 2 && item.kind == TRUNKLINE_ITEM_KIND_EVENT && item.event == TRUNKLINE_EVENT_PROGRESS);
            CHECK(item.handle == subscription);
            json *event = take_json(item.buf);
            CHECK(json_number(json_get(event, "progress")) == step);
            CHECK(json_number(json_get(event, "call")) == (double)number);
            json_free(event);
        }
        trunkline_item item = next_item(queue);
        CHECK(item.tag == 1 && take_text(item.buf, "done"));
    }
    close_scene(&s);
    trunkline_queue_free(queue);
}

/* SPEC 7.1, 16.6, I-16 */
static void a_change_is_seen_and_the_end_is_told(void)
{
    scene s = open_scene("", "");
    uint64_t lease = acquire(&s), subscription = 0, closed = 0;
    trunkline_queue *queue = NULL;
    trunkline_buf *buf = NULL;
    OK(trunkline_queue_new(&queue, &err));
    uint64_t mask = TRUNKLINE_MASK(TRUNKLINE_EVENT_TOOLS_CHANGED);
    OK(trunkline_session_subscribe_queue(s.pool, s.session, mask, queue, 1, &subscription, NULL, &err));
    OK(trunkline_session_subscribe_queue(s.pool, s.session, mask, queue, 2, &closed, NULL, &err));
    OK(trunkline_subscription_close(s.pool, closed, &err));
    OK(trunkline_lease_call_tool(s.pool, lease, TRUNKLINE_LITERAL("change_list"), TRUNKLINE_LITERAL("{\"add\":\"fresh\"}"), NULL,
                                 &buf, &err));
    trunkline_buf_free(buf);
    trunkline_item item = next_item(queue);
    CHECK(item.tag == 1 && item.event == TRUNKLINE_EVENT_TOOLS_CHANGED && text_has(trunkline_buf_str(item.buf), "fresh"));
    trunkline_item_clear(&item);
    OK(trunkline_session_close(s.pool, s.session, TRUNKLINE_DEFAULT, &err));
    item = next_item(queue);
    CHECK(item.tag == 1 && item.kind == TRUNKLINE_ITEM_KIND_END && item.buf == NULL);
    OK(trunkline_subscription_close(s.pool, subscription, &err));
    close_scene(&s);
    size_t count = 1;
    OK(trunkline_queue_drain(queue, &item, 1, &count, &err));
    CHECK(count == 0 && !is_readable(queue));
    trunkline_queue_free(queue);
}

/* I-19 */
static void a_queue_may_be_freed_with_results_in_it_and_on_the_way(void)
{
    scene s = open_scene("{\"drain_delay_ms\":50}", "");
    uint64_t subscription = 0;
    trunkline_queue *queue = NULL;
    OK(trunkline_queue_new(&queue, &err));
    OK(trunkline_pool_subscribe_queue(s.pool, TRUNKLINE_EVERY_EVENT, queue, 3, &subscription, NULL, &err));
    OK(trunkline_session_acquire_enqueue(s.pool, s.session, TRUNKLINE_LITERAL("s"), none, none, queue, 1, NULL, &err));
    UNTIL(is_readable(queue));
    OK(trunkline_session_acquire_enqueue(s.pool, s.session, TRUNKLINE_LITERAL("s"), none, none, queue, 2, NULL, &err));
    trunkline_queue_free(queue);
    /* The leases that nobody took are released. */
    UNTIL(starts_of(s.log) == 1 && processes_of(s.log) == 0);
    close_scene(&s);
}

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/* So many that a descriptor which some of them keep is seen. */
enum { ROUNDS = 100 };

/* SPEC 16.2, 16.6 */
static void a_subscription_that_has_ended_keeps_no_queue(void)
{
    scene s = open_scene("", "");
    int before = open_descriptors();
    for (int round = 0; round < ROUNDS; round++) {
        trunkline_queue *queue = NULL;
        uint64_t session = 0, subscription = 0;
        OK(trunkline_queue_new(&queue, &err));
        OK(trunkline_session_open(s.pool, TRUNKLINE_LITERAL("{\"id\":\"b\",\"servers\":[]}"), &session, &err));
        OK(trunkline_session_subscribe_queue(s.pool, session, TRUNKLINE_MASK(TRUNKLINE_EVENT_LOG), queue, 1, &subscription, NULL,
                                             &err));
        OK(trunkline_session_close(s.pool, session, 0, &err));
        trunkline_item item = next_item(queue);
        CHECK(item.kind == TRUNKLINE_ITEM_KIND_END && item.handle == subscription);
        /* It need not be closed, and may be. */
        for (int closes = round % 3; closes > 0; closes--)
            OK(trunkline_subscription_close(s.pool, subscription, &err));
        trunkline_queue_free(queue);
    }
    UNTIL(open_descriptors() == before);
    close_scene(&s);
}

/* SPEC 16.2 */
static void a_queue_that_is_freed_ends_its_subscriptions(void)
{
    scene s = open_scene("", "");
    uint64_t lease = acquire(&s);
    int before = open_descriptors();
    for (int round = 0; round < ROUNDS; round++) {
        trunkline_queue *queue = NULL;
        trunkline_buf *buf = NULL;
        uint64_t subscription = 0, mask = TRUNKLINE_MASK(TRUNKLINE_EVENT_LOG);
        OK(trunkline_queue_new(&queue, &err));
        if (round % 2)
            OK(trunkline_pool_subscribe_queue(s.pool, mask, queue, 1, &subscription, NULL, &err));
        else
            OK(trunkline_session_subscribe_queue(s.pool, s.session, mask, queue, 1, &subscription, NULL, &err));
        /* With events in it, and with none. */
        if (round % 33 == 0) {
            OK(trunkline_lease_call_tool(s.pool, lease, TRUNKLINE_LITERAL("log"),
                                         TRUNKLINE_LITERAL("{\"level\":\"info\",\"text\":\"x\"}"), NULL, &buf, &err));
            trunkline_buf_free(buf);
            UNTIL(is_readable(queue));
        }
        trunkline_queue_free(queue);
        if (round % 3)
            OK(trunkline_subscription_close(s.pool, subscription, &err));
    }
    /* A connection has a few that come and go. */
    UNTIL(open_descriptors() < before + 10);
    close_scene(&s);
}

int main(int argc, char **argv)
{
    begin_program(argc, argv);
    RUN(results_come_out_with_their_tags);
    RUN(a_cancelled_call_ends_at_once_and_once);
    RUN(a_cancelled_acquire_leaves_nothing);
    RUN(progress_comes_before_the_result);
    RUN(a_change_is_seen_and_the_end_is_told);
    RUN(a_queue_may_be_freed_with_results_in_it_and_on_the_way);
    RUN(a_subscription_that_has_ended_keeps_no_queue);
    RUN(a_queue_that_is_freed_ends_its_subscriptions);
    return 0;
}
