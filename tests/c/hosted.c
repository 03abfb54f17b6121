/* Servers that the host itself provides. */
#define _POSIX_C_SOURCE 200809L
#include "counter.h"

static const trunkline_str none = {NULL, 0};

/* A server in a few lines. */
typedef struct {
    scene scene;
    counter connections;
    counter closed;
    counter destroyed;
    /* Of a call that holds the server until the test lets it go. */
    counter held;
    counter let_go;
    uint64_t last;
} small;

static small new_small(void)
{
    small s;
    memset(&s, 0, sizeof s);
    counter zero = COUNTER;
    s.connections = s.closed = s.destroyed = s.held = s.let_go = zero;
    s.scene = open_scene("{\"drain_delay_ms\": 0, \"connect_timeout_ms\": 60000, \"reconnect\": {\"delays_ms\": {\"local\": [10], \"remote\": [10, 10]}}}", "");
    return s;
}

static void answer(small *s, uint64_t connection, const json *message, const char *result)
{
    char *id = json_write(json_get(message, "id"));
    char frame[512];
    snprintf(frame, sizeof frame, "{\"jsonrpc\": \"2.0\", \"id\": %s, \"result\": %s}", id, result);
    free(id);
    OK(trunkline_host_send(s->scene.pool, connection, text_of(frame), &err));
}

static void receive(void *user_data, uint64_t connection, trunkline_str frame)
{
    small *s = user_data;
    json *message = json_parse(frame.ptr, frame.len);
    const json *method = json_get(message, "method"), *params = json_get(message, "params");
    CHECK(message);
    s->last = connection;
    if (json_is_text(method, "initialize")) {
        count_up(&s->connections);
        answer(s, connection, message,
               "{\"protocolVersion\": \"2025-11-25\", \"capabilities\": {\"tools\": {}}, \"serverInfo\": {\"name\": \"small\", \"version\": \"1\"}}");
    } else if (json_is_text(method, "tools/list")) {
        answer(s, connection, message,
               "{\"tools\": [{\"name\": \"hello\", \"inputSchema\": {\"type\": \"object\"}}, {\"name\": \"exit\", \"inputSchema\": {\"type\": \"object\"}}, {\"name\": \"hold\", \"inputSchema\": {\"type\": \"object\"}}]}");
    } else if (json_is_text(json_get(params, "name"), "hello")) {
        answer(s, connection, message, "{\"content\": [{\"type\": \"text\", \"text\": \"hello\"}]}");
    } else if (json_is_text(json_get(params, "name"), "hold")) {
        count_up(&s->held);
        wait_count(&s->let_go, 1);
    } else if (json_is_text(json_get(params, "name"), "exit")) {
        OK(trunkline_host_close(s->scene.pool, connection, &err));
    } else if (json_get(message, "id")) {
        char *id = json_write(json_get(message, "id"));
        char refusal[256];
        snprintf(refusal, sizeof refusal, "{\"jsonrpc\": \"2.0\", \"id\": %s, \"error\": {\"code\": -32601, \"message\": \"no such method\"}}", id);
        free(id);
        OK(trunkline_host_send(s->scene.pool, connection, text_of(refusal), &err));
    }
    json_free(message);
}

static void closed(void *user_data, uint64_t connection)
{
    small *s = user_data;
    CHECK(connection);
    count_up(&s->closed);
}

static void destroyed(void *user_data)
{
    small *s = user_data;
    count_up(&s->destroyed);
}

static uint64_t provide(small *s)
{
    uint64_t lease;
    OK(trunkline_session_provide(s->scene.pool, s->scene.session, TRUNKLINE_LITERAL("own"), receive, closed, s, destroyed, &err));
    OK(trunkline_session_acquire(s->scene.pool, s->scene.session, TRUNKLINE_LITERAL("own"), none, none, &lease, &err));
    return lease;
}

/* SPEC 2.1, 5.6, 8.1 */
static void a_provided_server_is_called_lost_and_connected_anew(void)
{
    small s = new_small();
    uint64_t lease = provide(&s);
    trunkline_buf *buf = NULL;
    trunkline_call_options options = TRUNKLINE_CALL_OPTIONS_INIT;
    OK(trunkline_lease_call_tool(s.scene.pool, lease, TRUNKLINE_LITERAL("hello"), none, NULL, &buf, &err));
    CHECK(take_text(buf, "hello"));
    uint64_t first = s.last;
    FAILS(TRUNKLINE_STATUS_CALL_INTERRUPTED, trunkline_lease_call_tool(s.scene.pool, lease, TRUNKLINE_LITERAL("exit"), none, NULL, &buf, &err));
    wait_count(&s.closed, 1);
    FAILS(TRUNKLINE_STATUS_BAD_HANDLE, trunkline_host_send(s.scene.pool, first, TRUNKLINE_LITERAL("{}"), &err));
    options.wait = 1;
    OK(trunkline_lease_call_tool(s.scene.pool, lease, TRUNKLINE_LITERAL("hello"), none, &options, &buf, &err));
    CHECK(take_text(buf, "hello") && s.last != first && count_of(&s.connections) == 2);
    close_scene(&s.scene);
    wait_count(&s.closed, 2);
    wait_count(&s.destroyed, 1);
}

/* SPEC 16.2 */
static void a_freed_pool_ends_what_the_host_provides(void)
{
    small s = new_small();
    provide(&s);
    trunkline_pool_free(s.scene.pool);
    wait_count(&s.closed, 1);
    wait_count(&s.destroyed, 1);
    end_scene(&s.scene);
}

static void ignore(void *user_data, trunkline_item *item)
{
    (void)user_data, (void)item;
}

/* I-18, SPEC 16.2 */
static void a_close_waits_for_what_a_provided_server_does(void)
{
    small s = new_small();
    uint64_t lease = provide(&s);
    OK(trunkline_lease_call_tool_start(s.scene.pool, lease, TRUNKLINE_LITERAL("hold"), none, NULL, ignore, NULL, NULL, NULL, &err));
    wait_count(&s.held, 1);
    FAILS(TRUNKLINE_STATUS_TIMEOUT, trunkline_pool_close(s.scene.pool, 100, &err));
    CHECK(count_of(&s.closed) == 0);
    count_up(&s.let_go);
    OK(trunkline_pool_close(s.scene.pool, 60000, &err));
    CHECK(count_of(&s.closed) == 1);
    close_scene(&s.scene);
    wait_count(&s.destroyed, 1);
}

static void bad_arguments_are_refused_and_the_data_destroyed(void)
{
    small s = new_small();
    uint64_t session = s.scene.session;
    trunkline_pool *pool = s.scene.pool;
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_session_provide(pool, session, TRUNKLINE_LITERAL("own"), NULL, NULL, &s, destroyed, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_CONFIG, trunkline_session_provide(pool, session, none, receive, NULL, &s, destroyed, &err));
    FAILS(TRUNKLINE_STATUS_BAD_HANDLE, trunkline_session_provide(pool, 7, TRUNKLINE_LITERAL("own"), receive, NULL, &s, destroyed, &err));
    FAILS(TRUNKLINE_STATUS_BAD_HANDLE, trunkline_host_send(pool, session, TRUNKLINE_LITERAL("{}"), &err));
    FAILS(TRUNKLINE_STATUS_BAD_HANDLE, trunkline_host_close(pool, 0, &err));
    CHECK(count_of(&s.destroyed) == 3);
    close_scene(&s.scene);
}

int main(int argc, char **argv)
{
    begin_program(argc, argv);
    RUN(a_provided_server_is_called_lost_and_connected_anew);
    RUN(a_freed_pool_ends_what_the_host_provides);
    RUN(a_close_waits_for_what_a_provided_server_does);
    RUN(bad_arguments_are_refused_and_the_data_destroyed);
    return 0;
}
