/* The main job in C: a pool, a session, a lease, calls in all three forms, lists, events, and the end. */
#define _POSIX_C_SOURCE 200809L
#include "counter.h"

#include <pthread.h>

static const trunkline_str none = {NULL, 0};

/* What a completion callback leaves for the thread that waits. */
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int ended;
    int destroyed;
    trunkline_status status;
    uint64_t handle;
    trunkline_buf *buf;
} ending;

static ending new_ending(void)
{
    ending e = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, TRUNKLINE_STATUS_OK, 0, NULL};
    return e;
}

static void note_end(void *user_data, trunkline_item *item)
{
    ending *e = user_data;
    pthread_mutex_lock(&e->lock);
    e->ended++;
    e->status = item->status;
    e->handle = item->handle;
    e->buf = item->buf;
    item->buf = NULL;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

static void note_destroy(void *user_data)
{
    ending *e = user_data;
    pthread_mutex_lock(&e->lock);
    e->destroyed++;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

static void note_event(void *user_data, uint32_t event, trunkline_str json)
{
    ending *e = user_data;
    (void)event;
    (void)json;
    pthread_mutex_lock(&e->lock);
    e->ended++;
    pthread_mutex_unlock(&e->lock);
}

static void wait_destroyed(ending *e)
{
    pthread_mutex_lock(&e->lock);
    while (!e->destroyed)
        pthread_cond_wait(&e->changed, &e->lock);
    pthread_mutex_unlock(&e->lock);
}

/* SPEC 16.1 */
static void the_library_says_what_it_is(void)
{
    json *features = json_parse(trunkline_features().ptr, trunkline_features().len);
    CHECK(json_is(features, JSON_ARRAY));
    CHECK(strchr(trunkline_version(), '.'));
    json_free(features);
}

/* SPEC 10.3 */
static void settings_files_are_detected(void)
{
    char folder[64], file[80];
    make_folder(folder);
    snprintf(file, sizeof file, "%s/.mcp.json", folder);
    FILE *made = fopen(file, "w");
    CHECK(made && !fclose(made));
    trunkline_buf *buf = NULL;
    OK(trunkline_detect(TRUNKLINE_STRING(folder), &buf, &err));
    json *found = json_parse(trunkline_buf_str(buf).ptr, trunkline_buf_str(buf).len);
    trunkline_buf_free(buf);
    const json *files = json_get(found, "files");
    int seen = 0;
    for (size_t i = 0; files && i < files->count; i++) {
        const json *one = json_at(files, i);
        if (json_is_text(json_get(one, "path"), file))
            seen += json_is_text(json_get(one, "scope"), "project");
    }
    CHECK(seen == 1);
    json_free(found);
    CHECK(!remove(file) && !remove(folder));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_detect(TRUNKLINE_STRING(folder), NULL, &err));
}

/* SPEC 5.1, 3.3 */
static void a_call_gives_the_servers_answer(void)
{
    scene s = open_scene("", "");
    uint64_t lease = acquire(&s);
    trunkline_buf *buf = NULL;
    OK(trunkline_lease_call_tool(s.pool, lease, TRUNKLINE_LITERAL("echo"),
                                 TRUNKLINE_LITERAL("{\"message\":\"gr\303\274n\"}"), NULL, &buf, &err));
    CHECK(take_text(buf, "gr\303\274n"));
    OK(trunkline_session_call_tool(s.pool, s.session, TRUNKLINE_LITERAL("mcp__s__add"),
                                   TRUNKLINE_LITERAL("{\"a\":40,\"b\":2}"), NULL, &buf, &err));
    CHECK(take_text(buf, "42"));
    OK(trunkline_lease_release(s.pool, lease, &err));
    close_scene(&s);
}

/* SPEC 18.3 */
static void half_a_surrogate_pair_is_the_character_that_says_so(void)
{
    static const char sent[] = "{\"content\":[{\"type\":\"text\",\"text\":\"half \\ud83d\"}]}";
    static const char shown[] = "{\"content\":[{\"type\":\"text\",\"text\":\"half \\ufffd\"}]}";
    static const char arguments[] =
        "{\"result\":\"{\\\"content\\\":[{\\\"type\\\":\\\"text\\\",\\\"text\\\":\\\"half \\\\ud83d\\\"}]}\"}";
    scene s = open_scene("", "");
    uint64_t lease = acquire(&s);
    trunkline_buf *buf = NULL;
    OK(trunkline_lease_call_tool(s.pool, lease, TRUNKLINE_LITERAL("verbatim"), text_of(arguments), NULL, &buf, &err));
    for (int i = 0; i < 2; i++) {
        trunkline_str text = trunkline_buf_str(buf), raw = trunkline_buf_raw(buf);
        CHECK(text.len == strlen(shown) && memcmp(text.ptr, shown, text.len) == 0);
        CHECK(raw.len == strlen(sent) && memcmp(raw.ptr, sent, raw.len) == 0);
    }
    trunkline_buf_free(buf);
    CHECK(trunkline_buf_raw(NULL).len == 0);
    close_scene(&s);
}

/* SPEC 5.3, 5.10 */
static void a_result_comes_whole_however_deep_it_nests(void)
{
    enum { DEPTH = 200000 };
    static const char before[] = "{\"content\":[],\"n\":", wrapped[] = "{\"result\":\"{\\\"content\\\":[],\\\"n\\\":";
    scene s = open_scene("", "");
    uint64_t lease = acquire(&s);
    trunkline_buf *buf = NULL;
    char *arguments = malloc(sizeof wrapped + 2 * DEPTH + 4), *end;
    CHECK(arguments);
    end = strcpy(arguments, wrapped) + strlen(wrapped);
    memset(end, '[', DEPTH);
    memset(end + DEPTH, ']', DEPTH);
    strcpy(end + 2 * DEPTH, "}\"}");
    OK(trunkline_lease_call_tool(s.pool, lease, TRUNKLINE_LITERAL("verbatim"), text_of(arguments), NULL, &buf, &err));
    trunkline_str raw = trunkline_buf_str(buf);
    CHECK(raw.len == strlen(before) + 2 * DEPTH + 1);
    CHECK(memcmp(raw.ptr, before, strlen(before)) == 0);
    CHECK(memcmp(raw.ptr + strlen(before), end, 2 * DEPTH + 1) == 0);
    trunkline_buf_free(buf);
    free(arguments);
    close_scene(&s);
}

/* SPEC 3.1, 9.3 */
static void a_lease_describes_what_it_holds(void)
{
    scene s = open_scene("", "");
    uint64_t lease = acquire(&s);
    trunkline_buf *buf = NULL;
    OK(trunkline_lease_describe(s.pool, lease, &buf, &err));
    json *description = take_json(buf);
    CHECK(json_is_text(json_get(description, "server"), "s"));
    CHECK(json_is_text(json_get(description, "state"), "active"));
    CHECK(json_number(json_get(description, "generation")) == 1);
    CHECK(json_number(json_get(description, "v")) == 1);
    json_free(description);
    close_scene(&s);
}

/* SPEC 6.1, 14.3 */
static void a_session_lists_what_it_sees(void)
{
    scene s = open_scene("", "\"--tools\",\"2\"");
    uint64_t lease = acquire(&s);
    trunkline_buf *buf = NULL;
    OK(trunkline_session_tools(s.pool, s.session, &buf, &err));
    json *tools = take_json(buf);
    OK(trunkline_lease_tools(s.pool, lease, &buf, &err));
    json *same = take_json(buf);
    CHECK(json_equal(tools, same) && tools->count > 2);
    CHECK(strncmp(json_text(json_get(json_at(tools, 0), "name")), "mcp__s__", 8) == 0);
    CHECK(json_is(json_get(json_at(tools, 0), "definition"), JSON_OBJECT));
    json_free(tools);
    json_free(same);
    trunkline_status (*lists[])(trunkline_pool *, uint64_t, trunkline_buf **, trunkline_error **) = {
        trunkline_session_prompts, trunkline_session_resources, trunkline_session_resource_templates};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        OK(lists[i](s.pool, s.session, &buf, &err));
        json *list = take_json(buf);
        CHECK(json_is(list, JSON_ARRAY) && list->count > 0);
        json_free(list);
    }
    close_scene(&s);
}

/* SPEC 16.2: a started operation ends exactly once, and its user data is destroyed exactly once, afterwards. */
static void a_started_operation_ends_in_its_callback(void)
{
    scene s = open_scene("", "");
    ending e = new_ending();
    uint64_t op = 0;
    OK(trunkline_session_acquire_start(s.pool, s.session, TRUNKLINE_LITERAL("s"), none, none, note_end, &e, note_destroy,
                                       &op, &err));
    CHECK(op != 0);
    wait_destroyed(&e);
    CHECK(e.ended == 1 && e.status == TRUNKLINE_STATUS_OK && e.handle != 0);
    uint64_t lease = e.handle;
    e = new_ending();
    OK(trunkline_lease_call_tool_start(s.pool, lease, TRUNKLINE_LITERAL("echo"), TRUNKLINE_LITERAL("{\"message\":\"m\"}"),
                                       NULL, note_end, &e, note_destroy, NULL, &err));
    wait_destroyed(&e);
    CHECK(e.ended == 1 && e.destroyed == 1 && e.status == TRUNKLINE_STATUS_OK);
    CHECK(take_text(e.buf, "m"));
    /* A cancel that comes too late is fine. */
    OK(trunkline_op_cancel(s.pool, op, &err));
    close_scene(&s);
}

/* SPEC 5.1 */
static void other_requests_and_resources_work(void)
{
    scene s = open_scene("", "");
    uint64_t lease = acquire(&s);
    trunkline_buf *buf = NULL;
    OK(trunkline_session_resources(s.pool, s.session, &buf, &err));
    json *resources = take_json(buf);
    const char *uri = json_text(json_get(json_at(resources, 0), "own_name"));
    char params[256];
    snprintf(params, sizeof params, "{\"uri\":\"%s\"}", uri);
    OK(trunkline_lease_request(s.pool, lease, TRUNKLINE_LITERAL("resources/read"), text_of(params), NULL, &buf, &err));
    json *result = take_json(buf);
    CHECK(json_is_text(json_get(json_at(json_get(result, "contents"), 0), "uri"), uri));
    OK(trunkline_lease_subscribe_resource(s.pool, lease, text_of(uri), &err));
    OK(trunkline_lease_unsubscribe_resource(s.pool, lease, text_of(uri), &err));
    json_free(resources);
    json_free(result);
    close_scene(&s);
}

/* SPEC 9.4, 9.1 */
static void a_pool_reports_its_state_and_restarts(void)
{
    scene s = open_scene("", "");
    acquire(&s);
    trunkline_buf *buf = NULL;
    OK(trunkline_pool_restart(s.pool, TRUNKLINE_LITERAL("s"), TRUNKLINE_EVERY_ENTRY, &buf, &err));
    trunkline_buf_free(buf);
    CHECK(starts_of(s.log) == 2);
    OK(trunkline_pool_status(s.pool, &buf, &err));
    json *status = take_json(buf);
    CHECK(json_is(json_get(json_get(status, "servers"), "s"), JSON_OBJECT));
    json_free(status);
    OK(trunkline_pool_status_with(s.pool, TRUNKLINE_LITERAL("{\"processes\":true}"), &buf, &err));
    status = take_json(buf);
    CHECK(json_is(json_get(json_get(json_get(status, "servers"), "s"), "memory_bytes"), JSON_NUMBER));
    json_free(status);
    FAILS(TRUNKLINE_STATUS_UNKNOWN_OPTION, trunkline_pool_status_with(s.pool, TRUNKLINE_LITERAL("{\"all\":true}"), &buf, &err));
    OK(trunkline_session_ready(s.pool, s.session, none, 10000, &err));
    close_scene(&s);
}

/* SPEC 16.7 */
static void a_pool_writes_its_metrics(void)
{
    scene s = open_scene("", "");
    acquire(&s);
    trunkline_buf *buf = NULL;
    OK(trunkline_pool_metrics(s.pool, none, &buf, &err));
    trunkline_str text = trunkline_buf_str(buf);
    char *page = calloc(text.len + 1, 1);
    memcpy(page, text.ptr, text.len);
    CHECK(strstr(page, "# TYPE trunkline_server_up gauge\ntrunkline_server_up{server=\"s\"} 1\n") != NULL);
    CHECK(strstr(page, "memory") == NULL);
    free(page);
    trunkline_buf_free(buf);
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_pool_metrics(s.pool, TRUNKLINE_LITERAL("[]"), &buf, &err));
    close_scene(&s);
}

/* SPEC 3.3: the short form, for a session that is opened on the way, and for one that is there. */
static void a_pool_acquires_for_a_session_by_its_id(void)
{
    scene s = open_scene("", "");
    uint64_t leases[2] = {0, 0};
    trunkline_buf *buf = NULL;
    char *config = server_config("", s.log);
    trunkline_str ids[] = {TRUNKLINE_LITERAL("a"), TRUNKLINE_LITERAL("new")};
    for (int i = 0; i < 2; i++) {
        OK(trunkline_pool_acquire(s.pool, TRUNKLINE_LITERAL("own"), text_of(config), ids[i], none, &leases[i], &err));
        OK(trunkline_lease_call_tool(s.pool, leases[i], TRUNKLINE_LITERAL("echo"), TRUNKLINE_LITERAL("{\"message\":\"m\"}"),
                                     NULL, &buf, &err));
        CHECK(take_text(buf, "m"));
    }
    CHECK(starts_of(s.log) == 1);
    free(config);
    close_scene(&s);
}

/* SPEC 9.7, 3.10 */
static void a_drained_pool_refuses_and_closes(void)
{
    scene s = open_scene("", "");
    uint64_t lease = acquire(&s);
    trunkline_buf *buf = NULL;
    OK(trunkline_pool_drain_all(s.pool, none, &buf, &err));
    json *report = take_json(buf);
    CHECK(json_number(json_get(report, "drained")) == 1 && json_number(json_get(report, "forced")) == 0);
    json_free(report);
    CHECK(processes_of(s.log) == 0);
    trunkline_error *err = NULL;
    trunkline_status status =
        trunkline_session_acquire(s.pool, s.session, TRUNKLINE_LITERAL("s"), none, none, &lease, &err);
    CHECK(status == TRUNKLINE_STATUS_CLOSING || status == TRUNKLINE_STATUS_CLOSED);
    trunkline_error_free(err);
    OK(trunkline_pool_close(s.pool, TRUNKLINE_DEFAULT, &err));
    close_scene(&s);
}

/* SPEC 5.12, 4.1: failures are typed and say what and where. */
static void failures_are_typed(void)
{
    scene s = open_scene("", "");
    uint64_t lease = acquire(&s), other = 77;
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    CHECK(trunkline_lease_call_tool(s.pool, lease, TRUNKLINE_LITERAL("no_such"), none, NULL, &buf, &err) ==
          TRUNKLINE_STATUS_TOOL_NOT_FOUND);
    CHECK(text_is(trunkline_error_name(err), "tool_not_found") && text_is(trunkline_error_server(err), "s"));
    CHECK(!trunkline_error_retryable(err) && buf == NULL);
    trunkline_error_free(err);
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT,
          trunkline_lease_call_tool(s.pool, lease, TRUNKLINE_LITERAL("echo"), TRUNKLINE_LITERAL("[1]"), NULL, &buf, &err));
    FAILS(TRUNKLINE_STATUS_SPAWN_FAILED,
          trunkline_session_acquire(s.pool, s.session, TRUNKLINE_LITERAL("x"),
                                    TRUNKLINE_LITERAL("{\"command\":\"/no/such/program\"}"), none, &other, &err));
    CHECK(buf == NULL && other == 77);
    close_scene(&s);
}

/* SPEC 16.2 */
static void user_data_is_destroyed_when_a_start_is_refused(void)
{
    scene s = open_scene("", "");
    ending e = new_ending();
    uint64_t subscription = 0;
    FAILS(TRUNKLINE_STATUS_BAD_HANDLE,
          trunkline_lease_call_tool_start(s.pool, 99, none, none, NULL, note_end, &e, note_destroy, NULL, &err));
    CHECK(e.destroyed == 1);
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT,
          trunkline_pool_reconcile_start(NULL, none, note_end, &e, note_destroy, NULL, &err));
    CHECK(e.destroyed == 2);
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT,
          trunkline_pool_subscribe(s.pool, 1, NULL, &e, note_destroy, &subscription, NULL, &err));
    CHECK(e.destroyed == 3);
    FAILS(TRUNKLINE_STATUS_BAD_HANDLE,
          trunkline_session_subscribe(s.pool, 99, 1, note_event, &e, note_destroy, &subscription, NULL, &err));
    CHECK(e.destroyed == 4 && e.ended == 0);
    close_scene(&s);
}

/* SPEC 16.6 */
static void a_subscription_begins_with_a_snapshot(void)
{
    scene s = open_scene("", "");
    ending e = new_ending();
    uint64_t subscription = 0;
    trunkline_buf *snapshot = NULL;
    OK(trunkline_pool_subscribe(s.pool, TRUNKLINE_EVERY_EVENT, note_event, &e, note_destroy, &subscription, &snapshot,
                                &err));
    json *value = take_json(snapshot);
    CHECK(json_is(json_get(value, "seq"), JSON_NUMBER) && json_is(json_get(value, "status"), JSON_OBJECT));
    json_free(value);
    close_scene(&s);
    CHECK(e.destroyed == 1);
}

typedef struct {
    counter connected, destroyed;
    int batches, empty;
    trunkline_logs *logs;
} told;

static void note_records(void *user_data, trunkline_str records)
{
    told *t = user_data;
    json *rows = json_parse(records.ptr, records.len);
    CHECK(json_is(rows, JSON_ARRAY));
    t->batches++;
    t->empty += json_at(rows, 0) == NULL;
    for (size_t i = 0; json_at(rows, i) != NULL; i++) {
        CHECK(json_is(json_get(json_at(rows, i), "fields"), JSON_OBJECT));
        if (json_is_text(json_get(json_at(rows, i), "message"), "connected"))
            count_up(&t->connected);
    }
    json_free(rows);
}

static void note_end_of_logs(void *user_data)
{
    told *t = user_data;
    count_up(&t->destroyed);
}

/* Inside of OK and FAILS, which have the place for the error. */
#define TELL(level, callback, to) \
    trunkline_logs_new(TRUNKLINE_LITERAL(level), callback, to, note_end_of_logs, &(to)->logs, &err)

/* SPEC 16.7, 16.2 */
static void what_is_logged_is_told_to_who_asked_last_and_to_nobody_unasked(void)
{
    counter zero = COUNTER;
    told first = {zero, zero, 0, 0, NULL}, second = first, refused = first;
    trunkline_logs_free(NULL);
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, TELL("loud", note_records, &refused));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, TELL("info", NULL, &refused));
    CHECK(count_of(&refused.destroyed) == 2 && refused.logs == NULL);
    OK(TELL("error", note_records, &first));
    OK(TELL("info", note_records, &second));
    wait_count(&first.destroyed, 1);
    scene s = open_scene("", "");
    acquire(&s);
    wait_count(&second.connected, 1);
    trunkline_logs_free(first.logs);
    close_scene(&s);
    trunkline_logs_free(second.logs);
    CHECK(count_of(&second.destroyed) == 1 && second.batches > 0 && second.empty == 0 && first.batches == 0);
    s = open_scene("", "");
    acquire(&s);
    close_scene(&s);
    CHECK(count_of(&second.connected) == 1);
}

int main(int argc, char **argv)
{
    begin_program(argc, argv);
    RUN(the_library_says_what_it_is);
    RUN(settings_files_are_detected);
    RUN(a_call_gives_the_servers_answer);
    RUN(half_a_surrogate_pair_is_the_character_that_says_so);
    RUN(a_result_comes_whole_however_deep_it_nests);
    RUN(a_lease_describes_what_it_holds);
    RUN(a_session_lists_what_it_sees);
    RUN(a_started_operation_ends_in_its_callback);
    RUN(other_requests_and_resources_work);
    RUN(a_pool_reports_its_state_and_restarts);
    RUN(a_pool_writes_its_metrics);
    RUN(a_pool_acquires_for_a_session_by_its_id);
    RUN(a_drained_pool_refuses_and_closes);
    RUN(failures_are_typed);
    RUN(user_data_is_destroyed_when_a_start_is_refused);
    RUN(a_subscription_begins_with_a_snapshot);
    RUN(what_is_logged_is_told_to_who_asked_last_and_to_nobody_unasked);
    return 0;
}
