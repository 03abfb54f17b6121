/* What a host can get wrong: NULL, bytes that are no text, sizes, handles, options. Each is answered by a status, and does no harm. */
#define _POSIX_C_SOURCE 200809L
#include "fixture.h"

static const trunkline_str none = {NULL, 0};

/* SPEC 16.2 */
static void null_is_answered_everywhere(void)
{
    scene s = open_scene("", "");
    uint64_t lease = acquire(&s), handle = 5;
    trunkline_buf *buf = NULL;
    trunkline_pool *pool = NULL;
    trunkline_item item;
    size_t count = 7;
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_pool_new(none, NULL, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_pool_status(NULL, &buf, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_pool_status(s.pool, NULL, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_pool_close(NULL, 1, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_session_open(NULL, none, &handle, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_session_tools(s.pool, s.session, NULL, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_lease_release(NULL, lease, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT,
          trunkline_lease_call_tool(s.pool, lease, TRUNKLINE_LITERAL("pid"), none, NULL, NULL, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT,
          trunkline_lease_call_tool_start(s.pool, lease, TRUNKLINE_LITERAL("pid"), none, NULL, NULL, NULL, NULL, NULL, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT,
          trunkline_lease_call_tool_enqueue(s.pool, lease, TRUNKLINE_LITERAL("pid"), none, NULL, NULL, 1, NULL, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT,
          trunkline_pool_subscribe(s.pool, TRUNKLINE_EVERY_EVENT, NULL, NULL, NULL, &handle, NULL, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT,
          trunkline_pool_subscribe_queue(s.pool, TRUNKLINE_EVERY_EVENT, NULL, 1, &handle, NULL, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_queue_new(NULL, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_queue_drain(NULL, &item, 1, &count, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_op_cancel(NULL, 1, &err));
    CHECK(buf == NULL && pool == NULL && handle == 5 && count == 7);
    CHECK(trunkline_queue_fd(NULL) == -1);
    /* Without a place for the error, the status alone tells. */
    CHECK(trunkline_pool_status(NULL, &buf, NULL) == TRUNKLINE_STATUS_INVALID_ARGUMENT);
    trunkline_pool_free(NULL);
    trunkline_queue_free(NULL);
    trunkline_buf_free(NULL);
    trunkline_error_free(NULL);
    trunkline_item_clear(NULL);
    CHECK(trunkline_buf_str(NULL).len == 0);
    CHECK(trunkline_error_code(NULL) == TRUNKLINE_STATUS_OK && trunkline_error_cause(NULL) == NULL);
    CHECK(trunkline_error_message(NULL).len == 0 && trunkline_error_detail(NULL).len == 0);
    close_scene(&s);
}

/* SPEC 16.2 */
static void bytes_that_are_no_text_are_refused(void)
{
    scene s = open_scene("", "");
    uint64_t lease = acquire(&s);
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    trunkline_str bytes = TRUNKLINE_LITERAL("{\"message\":\"\xff\"}"), missing = {NULL, 3};
    trunkline_str endless = {"x", (size_t)-1};
    CHECK(trunkline_lease_call_tool(s.pool, lease, TRUNKLINE_LITERAL("echo"), bytes, NULL, &buf, &err) ==
          TRUNKLINE_STATUS_INVALID_ARGUMENT);
    CHECK(text_has(trunkline_error_detail(err), "\"path\":\"arguments_json\""));
    CHECK(text_has(trunkline_error_detail(err), "\"offset\":12"));
    trunkline_error_free(err);
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT,
          trunkline_lease_call_tool(s.pool, lease, missing, none, NULL, &buf, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT,
          trunkline_lease_call_tool(s.pool, lease, endless, none, NULL, &buf, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT,
          trunkline_lease_call_tool(s.pool, lease, TRUNKLINE_LITERAL("echo"), TRUNKLINE_LITERAL("{"), NULL, &buf, &err));
    close_scene(&s);
}

/* SPEC 16.5 */
static void a_struct_of_a_wrong_size_is_refused(void)
{
    scene s = open_scene("", "");
    uint64_t lease = acquire(&s);
    trunkline_buf *buf = NULL;
    const size_t sizes[] = {0, 1, sizeof(trunkline_call_options) - 1, 4097, (size_t)-1};
    trunkline_call_options options = TRUNKLINE_CALL_OPTIONS_INIT;
    trunkline_str pid = TRUNKLINE_LITERAL("pid");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        options.struct_size = sizes[i];
        FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_lease_call_tool(s.pool, lease, pid, none, &options, &buf, &err));
    }
    /* A struct of a later version: fine as long as what this version does not know is zero. */
    struct {
        trunkline_call_options known;
        unsigned char later[64];
    } larger = {TRUNKLINE_CALL_OPTIONS_INIT, {0}};
    larger.known.struct_size = sizeof larger;
    OK(trunkline_lease_call_tool(s.pool, lease, pid, none, &larger.known, &buf, &err));
    trunkline_buf_free(buf);
    larger.later[63] = 1;
    FAILS(TRUNKLINE_STATUS_UNKNOWN_OPTION, trunkline_lease_call_tool(s.pool, lease, pid, none, &larger.known, &buf, &err));
    close_scene(&s);
}

/* SPEC 16.5 */
static void a_number_that_an_option_does_not_have_is_refused_by_its_name(void)
{
    scene s = open_scene("", "");
    uint64_t lease = acquire(&s);
    trunkline_call_options odd[] = {TRUNKLINE_CALL_OPTIONS_INIT, TRUNKLINE_CALL_OPTIONS_INIT, TRUNKLINE_CALL_OPTIONS_INIT,
                                    TRUNKLINE_CALL_OPTIONS_INIT, TRUNKLINE_CALL_OPTIONS_INIT, TRUNKLINE_CALL_OPTIONS_INIT,
                                    TRUNKLINE_CALL_OPTIONS_INIT};
    odd[0].progress = 2;
    odd[1].retry = 3;
    odd[2].wait = 2;
    odd[3].shape = 7;
    /* SPEC 4.2: the pair has to nest, here as in the options' JSON form. */
    odd[4].timeout_ms = 100;
    odd[4].idle_timeout_ms = 101;
    odd[5].timeout_ms = UINT64_MAX;
    odd[6].unlisted = 2;
    const char *const paths[] = {"\"path\":\"progress\"", "\"path\":\"retry\"", "\"path\":\"wait\"",
                                 "\"path\":\"shape\"", "\"path\":\"idle_timeout_ms\"", "\"path\":\"timeout_ms\"",
                                 "\"path\":\"unlisted\""};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        trunkline_buf *buf = NULL;
        trunkline_error *err = NULL;
        CHECK(trunkline_lease_call_tool(s.pool, lease, TRUNKLINE_LITERAL("pid"), none, &odd[i], &buf, &err) ==
              TRUNKLINE_STATUS_INVALID_ARGUMENT);
        CHECK(text_has(trunkline_error_detail(err), paths[i]));
        trunkline_error_free(err);
    }
    close_scene(&s);
}

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* SPEC 16.2 */
static void wrong_handles_are_refused(void)
{
    scene s = open_scene("", ""), other = open_scene("", "");
    uint64_t lease = acquire(&s), op = 0, subscription = 0;
    trunkline_queue *queue = NULL;
    trunkline_buf *buf = NULL;
    OK(trunkline_queue_new(&queue, &err));
    OK(trunkline_pool_subscribe_queue(s.pool, TRUNKLINE_EVERY_EVENT, queue, 1, &subscription, NULL, &err));
    OK(trunkline_lease_call_tool_enqueue(s.pool, lease, TRUNKLINE_LITERAL("pid"), none, NULL, queue, 2, &op, &err));
    /* Foreign, and of another kind. */
    FAILS(TRUNKLINE_STATUS_BAD_HANDLE, trunkline_lease_release(other.pool, lease, &err));
    FAILS(TRUNKLINE_STATUS_BAD_HANDLE, trunkline_session_tools(other.pool, s.session, &buf, &err));
    FAILS(TRUNKLINE_STATUS_BAD_HANDLE, trunkline_op_cancel(other.pool, op, &err));
    FAILS(TRUNKLINE_STATUS_BAD_HANDLE, trunkline_subscription_close(other.pool, subscription, &err));
    const uint64_t all[] = {lease, op, subscription, s.session, 0};
    for (size_t i = 0; i < 5; i++) {
        if (all[i] != lease)
            FAILS(TRUNKLINE_STATUS_BAD_HANDLE, trunkline_lease_release(s.pool, all[i], &err));
        if (all[i] != s.session)
            FAILS(TRUNKLINE_STATUS_BAD_HANDLE, trunkline_session_close(s.pool, all[i], 0, &err));
        if (all[i] != subscription)
            FAILS(TRUNKLINE_STATUS_BAD_HANDLE, trunkline_subscription_close(s.pool, all[i], &err));
        if (all[i] != op)
            FAILS(TRUNKLINE_STATUS_BAD_HANDLE, trunkline_op_cancel(s.pool, all[i], &err));
    }
    /* Made up. */
    for (int i = 0; i < 10000; i++) {
        CHECK(trunkline_lease_release(s.pool, next_random(), NULL) == TRUNKLINE_STATUS_BAD_HANDLE);
        CHECK(trunkline_session_close(s.pool, next_random(), 0, NULL) == TRUNKLINE_STATUS_BAD_HANDLE);
        CHECK(trunkline_session_tools(s.pool, next_random(), &buf, NULL) == TRUNKLINE_STATUS_BAD_HANDLE);
        CHECK(trunkline_subscription_close(s.pool, next_random(), NULL) == TRUNKLINE_STATUS_BAD_HANDLE);
        CHECK(trunkline_op_cancel(s.pool, next_random(), NULL) == TRUNKLINE_STATUS_BAD_HANDLE);
    }
    /* Given up twice. */
    OK(trunkline_lease_release(s.pool, lease, &err));
    FAILS(TRUNKLINE_STATUS_BAD_HANDLE, trunkline_lease_release(s.pool, lease, &err));
    FAILS(TRUNKLINE_STATUS_BAD_HANDLE, trunkline_lease_describe(s.pool, lease, &buf, &err));
    OK(trunkline_subscription_close(s.pool, subscription, &err));
    OK(trunkline_subscription_close(s.pool, subscription, &err));
    OK(trunkline_session_close(s.pool, s.session, TRUNKLINE_DEFAULT, &err));
    FAILS(TRUNKLINE_STATUS_BAD_HANDLE, trunkline_session_close(s.pool, s.session, TRUNKLINE_DEFAULT, &err));
    CHECK(buf == NULL);
    close_scene(&s);
    close_scene(&other);
    trunkline_queue_free(queue);
}

/* SPEC 16.5, 3.13, 13.1 */
static void options_and_configurations_that_are_wrong_say_where(void)
{
    trunkline_pool *pool = NULL;
    trunkline_error *err = NULL;
    trunkline_buf *buf = NULL;
    uint64_t session = 0, again = 0;
    CHECK(trunkline_pool_new(TRUNKLINE_LITERAL("{\"drain_delay\":1}"), &pool, &err) == TRUNKLINE_STATUS_UNKNOWN_OPTION);
    CHECK(text_has(trunkline_error_detail(err), "\"option\":\"drain_delay\""));
    trunkline_error_free(err);
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT,
          trunkline_pool_new(TRUNKLINE_LITERAL("{\"drain_delay_ms\":\"x\"}"), &pool, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_pool_new(TRUNKLINE_LITERAL("{"), &pool, &err));
    CHECK(pool == NULL);
    OK(trunkline_pool_new(none, &pool, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_session_open(pool, none, &session, &err));
    FAILS(TRUNKLINE_STATUS_UNKNOWN_OPTION,
          trunkline_session_open(pool, TRUNKLINE_LITERAL("{\"id\":\"a\",\"server\":[]}"), &session, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_CONFIG, trunkline_pool_reconcile(pool, TRUNKLINE_LITERAL("7"), &buf, &err));
    OK(trunkline_session_open(pool, TRUNKLINE_LITERAL("{\"id\":\"a\"}"), &session, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_session_open(pool, TRUNKLINE_LITERAL("{\"id\":\"a\"}"), &again, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_CONFIG, trunkline_session_acquire(pool, session, TRUNKLINE_LITERAL("x"),
                                                                     TRUNKLINE_LITERAL("{{"), none, &again, &err));
    CHECK(again == 0 && buf == NULL);
    OK(trunkline_pool_close(pool, TRUNKLINE_DEFAULT, &err));
    trunkline_pool_free(pool);
}

int main(int argc, char **argv)
{
    begin_program(argc, argv);
    RUN(null_is_answered_everywhere);
    RUN(bytes_that_are_no_text_are_refused);
    RUN(a_struct_of_a_wrong_size_is_refused);
    RUN(a_number_that_an_option_does_not_have_is_refused_by_its_name);
    RUN(wrong_handles_are_refused);
    RUN(options_and_configurations_that_are_wrong_say_where);
    return 0;
}
