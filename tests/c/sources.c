/* Settings files, sources, trust and approvals: what a host can get wrong, and what it may do amid its callbacks. */
#define _XOPEN_SOURCE 700
#include "counter.h"

#include <sys/stat.h>
#include <unistd.h>

static const trunkline_str none = {NULL, 0};

/* A trusted workspace whose project has the reference server as `p`, and a session that wants every server. */
typedef struct {
    char folder[64];
    char settings[96];
    scene scene;
} project;

static void write_settings(const project *p, const char *flags)
{
    char *server = server_config(flags, p->scene.log);
    FILE *file = fopen(p->settings, "w");
    CHECK(file && fprintf(file, "{\"mcpServers\": {\"p\": %s}}", server) > 0 && fclose(file) == 0);
    free(server);
}

static void make_project(project *p)
{
    memset(p, 0, sizeof *p);
    make_folder(p->folder);
    snprintf(p->settings, sizeof p->settings, "%s/.mcp.json", p->folder);
    make_log(p->scene.log);
    write_settings(p, "");
}

static char *options_of(const project *p)
{
    static char options[256];
    snprintf(options, sizeof options, "{\"workspace\": \"%s\", \"trusted\": true, \"approvals\": \"memory\"}", p->folder);
    return options;
}

static void open_session(project *p)
{
    OK(trunkline_session_open(p->scene.pool, TRUNKLINE_LITERAL("{\"id\": \"a\"}"), &p->scene.session, &err));
}

static project open_project(void)
{
    project p;
    make_project(&p);
    OK(trunkline_pool_new(text_of(options_of(&p)), &p.scene.pool, &err));
    open_session(&p);
    return p;
}

static void close_project(project *p)
{
    close_scene(&p->scene);
    CHECK(unlink(p->settings) == 0 && rmdir(p->folder) == 0);
}

static json *approvals_of(trunkline_pool *pool)
{
    trunkline_buf *buf = NULL;
    OK(trunkline_pool_approvals(pool, &buf, &err));
    return take_json(buf);
}

/* The hash of the one request there is. */
static void shown_hash(trunkline_pool *pool, char hash[80])
{
    json *approvals = approvals_of(pool);
    const json *requests = json_get(approvals, "requests");
    CHECK(requests && requests->count == 1);
    snprintf(hash, 80, "%s", json_text(json_get(json_at(requests, 0), "hash")));
    json_free(approvals);
}

static bool has_member(trunkline_buf *buf, const char *row, const char *name, const char *value)
{
    json *report = take_json(buf);
    bool holds = json_is_text(json_get(json_get(json_get(report, "servers"), row), name), value);
    json_free(report);
    return holds;
}

/* SPEC 10.1, 12.5, 12.7, 16.1 */
static void a_loaded_server_starts_once_what_was_shown_is_approved(void)
{
    project p = open_project();
    trunkline_pool *pool = p.scene.pool;
    trunkline_buf *buf = NULL;
    char old[80], hash[80];
    OK(trunkline_pool_load(pool, text_of(p.settings), none, &buf, &err));
    CHECK(has_member(buf, "p", "reason", "pending_approval"));
    shown_hash(pool, old);
    write_settings(&p, "\"--tools\", \"3\"");
    OK(trunkline_pool_reload(pool, none, &buf, &err));
    trunkline_buf_free(buf);
    buf = NULL;
    FAILS(TRUNKLINE_STATUS_STALE_APPROVAL, trunkline_pool_approve(pool, TRUNKLINE_LITERAL("p"), text_of(old), &buf, &err));
    FAILS(TRUNKLINE_STATUS_STALE_APPROVAL, trunkline_pool_reject(pool, TRUNKLINE_LITERAL("p"), text_of(old), &buf, &err));
    CHECK(buf == NULL && starts_of(p.scene.log) == 0);
    shown_hash(pool, hash);
    OK(trunkline_pool_approve(pool, TRUNKLINE_LITERAL("p"), text_of(hash), &buf, &err));
    CHECK(has_member(buf, "p", "action", "added"));
    OK(trunkline_pool_settled(pool, 30000, &buf, &err));
    CHECK(has_member(buf, "p", "state", "ready") && processes_of(p.scene.log) == 1);
    OK(trunkline_pool_reject(pool, TRUNKLINE_LITERAL("p"), text_of(hash), &buf, &err));
    CHECK(has_member(buf, "p", "reason", "rejected"));
    UNTIL(processes_of(p.scene.log) == 0);
    OK(trunkline_pool_forget(pool, TRUNKLINE_LITERAL("p"), &buf, &err));
    CHECK(has_member(buf, "p", "reason", "pending_approval"));
    close_project(&p);
}

/* SPEC 10.2, 11.4, 13.1 */
static void sources_come_go_and_lose_trust(void)
{
    project p = open_project();
    trunkline_pool *pool = p.scene.pool;
    trunkline_buf *buf = NULL;
    char settings[1024], *server = server_config("", p.scene.log);
    snprintf(settings, sizeof settings, "{\"mcpServers\": {\"x\": %s}}", server);
    OK(trunkline_pool_set_source(pool, TRUNKLINE_LITERAL("extension:one"), text_of(settings), &buf, &err));
    CHECK(has_member(buf, "x", "source", "extension:one"));
    OK(trunkline_pool_switch_source(pool, TRUNKLINE_LITERAL("extension"), 0, &buf, &err));
    CHECK(has_member(buf, "x", "action", "removed"));
    OK(trunkline_pool_switch_source(pool, TRUNKLINE_LITERAL("extension"), 1, &buf, &err));
    CHECK(has_member(buf, "x", "action", "added"));
    OK(trunkline_pool_set_trusted(pool, 0, &buf, &err));
    CHECK(has_member(buf, "x", "reason", "untrusted"));
    OK(trunkline_pool_set_trusted(pool, 1, &buf, &err));
    trunkline_buf_free(buf);
    OK(trunkline_pool_add_server(pool, TRUNKLINE_LITERAL("x"), text_of(server), &buf, &err));
    CHECK(text_has(trunkline_buf_str(buf), "\"server\":\"x\""));
    trunkline_buf_free(buf);
    OK(trunkline_pool_remove_server(pool, TRUNKLINE_LITERAL("x"), &buf, &err));
    CHECK(text_has(trunkline_buf_str(buf), "\"result\":\"removed\""));
    trunkline_buf_free(buf);
    OK(trunkline_pool_remove_server(pool, TRUNKLINE_LITERAL("x"), &buf, &err));
    CHECK(text_has(trunkline_buf_str(buf), "\"result\":\"not_present\""));
    trunkline_buf_free(buf);
    /* The empty text removes a source. */
    OK(trunkline_pool_set_source(pool, TRUNKLINE_LITERAL("extension:one"), none, &buf, &err));
    CHECK(has_member(buf, "x", "action", "removed"));
    free(server);
    close_project(&p);
}

/* What an argument that is wrong is answered with, and the place that the error names. */
#define REFUSES(status, path, call)                            \
    do {                                                       \
        trunkline_error *err = NULL;                           \
        CHECK((call) == TRUNKLINE_STATUS_##status);            \
        CHECK(text_has(trunkline_error_detail(err), "\"" path "\"")); \
        trunkline_error_free(err);                             \
    } while (0)

/* SPEC 16.2, 16.5 */
static void what_is_wrong_is_refused_by_its_name(void)
{
    project p = open_project();
    trunkline_pool *pool = p.scene.pool;
    trunkline_buf *buf = NULL;
    trunkline_str name = TRUNKLINE_LITERAL("p"), bytes = TRUNKLINE_LITERAL("\xff"), user = TRUNKLINE_LITERAL("user");
    trunkline_str path = text_of(p.settings), servers = TRUNKLINE_LITERAL("{\"mcpServers\": {}}");
    REFUSES(INVALID_ARGUMENT, "path", trunkline_pool_load(pool, bytes, none, &buf, &err));
    REFUSES(INVALID_ARGUMENT, "path", trunkline_pool_load(pool, none, none, &buf, &err));
    REFUSES(UNKNOWN_OPTION, "watc", trunkline_pool_load(pool, path, TRUNKLINE_LITERAL("{\"watc\": true}"), &buf, &err));
    REFUSES(INVALID_ARGUMENT, "source", trunkline_pool_load(pool, path, TRUNKLINE_LITERAL("{\"source\": \"user\"}"), &buf, &err));
    REFUSES(INVALID_CONFIG, "/no/such/file.json", trunkline_pool_load(pool, TRUNKLINE_LITERAL("/no/such/file.json"), none, &buf, &err));
    REFUSES(INVALID_ARGUMENT, "source", trunkline_pool_set_source(pool, TRUNKLINE_LITERAL("users"), servers, &buf, &err));
    REFUSES(INVALID_ARGUMENT, "source", trunkline_pool_set_source(pool, TRUNKLINE_LITERAL("runtime"), servers, &buf, &err));
    REFUSES(INVALID_CONFIG, "line", trunkline_pool_set_source(pool, user, TRUNKLINE_LITERAL("{"), &buf, &err));
    REFUSES(INVALID_ARGUMENT, "settings", trunkline_pool_set_source(pool, user, bytes, &buf, &err));
    REFUSES(INVALID_ARGUMENT, "source", trunkline_pool_switch_source(pool, none, 1, &buf, &err));
    REFUSES(INVALID_ARGUMENT, "on", trunkline_pool_switch_source(pool, user, 2, &buf, &err));
    REFUSES(INVALID_ARGUMENT, "trusted", trunkline_pool_set_trusted(pool, 2, &buf, &err));
    REFUSES(INVALID_CONFIG, "line", trunkline_pool_add_server(pool, name, TRUNKLINE_LITERAL("{"), &buf, &err));
    REFUSES(INVALID_ARGUMENT, "server", trunkline_pool_remove_server(pool, bytes, &buf, &err));
    REFUSES(UNKNOWN_OPTION, "recon", trunkline_pool_reload(pool, TRUNKLINE_LITERAL("{\"recon\": 1}"), &buf, &err));
    REFUSES(INVALID_ARGUMENT, "hash", trunkline_pool_approve(pool, name, none, &buf, &err));
    REFUSES(INVALID_ARGUMENT, "hash", trunkline_pool_reject(pool, name, bytes, &buf, &err));
    REFUSES(INVALID_ARGUMENT, "server", trunkline_pool_forget(pool, bytes, &buf, &err));
    REFUSES(INVALID_ARGUMENT, "out", trunkline_pool_load(pool, path, none, NULL, &err));
    REFUSES(INVALID_ARGUMENT, "out", trunkline_pool_set_source(pool, user, servers, NULL, &err));
    REFUSES(INVALID_ARGUMENT, "out", trunkline_pool_approvals(pool, NULL, &err));
    REFUSES(INVALID_ARGUMENT, "pool", trunkline_pool_settled(NULL, 1, &buf, &err));
    REFUSES(INVALID_ARGUMENT, "done", trunkline_pool_load_start(pool, path, none, NULL, NULL, NULL, NULL, &err));
    REFUSES(INVALID_ARGUMENT, "queue", trunkline_pool_reload_enqueue(pool, none, NULL, 1, NULL, &err));
    CHECK(buf == NULL);
    close_project(&p);
}

/* What the host's callbacks see, and what they try. */
typedef struct {
    project project;
    counter asked;
    counter done;
    counter destroyed;
    trunkline_buf *kept;
    trunkline_status status;
} host;

static host new_host(void)
{
    host h;
    counter zero = COUNTER;
    memset(&h, 0, sizeof h);
    h.asked = h.done = h.destroyed = zero;
    return h;
}

static void on_done(void *user_data, trunkline_item *item)
{
    host *h = user_data;
    trunkline_buf *buf = NULL;
    FAILS(TRUNKLINE_STATUS_WRONG_THREAD, trunkline_pool_reload(h->project.scene.pool, none, &buf, &err));
    CHECK(buf == NULL);
    h->kept = item->buf;
    item->buf = NULL;
    h->status = item->status;
    count_up(&h->done);
}

static void on_destroy(void *user_data)
{
    host *h = user_data;
    count_up(&h->destroyed);
}

/* Answers an input, after it tried what a handler may and may not do while a load waits for it. */
static void on_ask(void *user_data, uint32_t news, uint64_t request, trunkline_str text)
{
    host *h = user_data;
    trunkline_pool *pool = h->project.scene.pool;
    trunkline_buf *buf = NULL;
    CHECK(news == TRUNKLINE_REQUEST_EVENT_ASKED);
    CHECK(text_has(text, "\"kind\":\"inputs\"") && text_has(text, "\"id\":\"word\"") && text_has(text, "\"generation\":null"));
    FAILS(TRUNKLINE_STATUS_WRONG_THREAD, trunkline_pool_load(pool, text_of(h->project.settings), none, &buf, &err));
    FAILS(TRUNKLINE_STATUS_WRONG_THREAD, trunkline_pool_approvals(pool, &buf, &err));
    FAILS(TRUNKLINE_STATUS_WRONG_THREAD, trunkline_pool_settled(pool, 1, &buf, &err));
    CHECK(buf == NULL);
    OK(trunkline_pool_set_source(pool, TRUNKLINE_LITERAL("extension:late"), TRUNKLINE_LITERAL("{\"mcpServers\": {}}"), &buf, &err));
    trunkline_buf_free(buf);
    OK(trunkline_pool_reload_start(pool, none, on_done, h, on_destroy, NULL, &err));
    OK(trunkline_request_answer(pool, request, TRUNKLINE_LITERAL("{\"value\": \"given\"}"), &err));
    count_up(&h->asked);
}

/* SPEC 10.5, 15.1, 16.2 */
static void a_handler_is_asked_for_an_input_and_may_change_sources_meanwhile(void)
{
    host h = new_host();
    trunkline_buf *buf = NULL;
    char settings[1024], *server;
    make_project(&h.project);
    uint64_t mask = TRUNKLINE_MASK(TRUNKLINE_HANDLER_INPUTS);
    OK(trunkline_pool_new_with_handlers(text_of(options_of(&h.project)), mask, on_ask, &h, NULL, &h.project.scene.pool, &err));
    open_session(&h.project);
    server = server_config("\"--label\", \"${input:word}\"", h.project.scene.log);
    snprintf(settings, sizeof settings, "{\"inputs\": [{\"id\": \"word\", \"type\": \"promptString\"}], \"servers\": {\"u\": %s}}", server);
    free(server);
    OK(trunkline_pool_set_source(h.project.scene.pool, TRUNKLINE_LITERAL("user"), text_of(settings), &buf, &err));
    CHECK(has_member(buf, "u", "action", "waiting"));
    OK(trunkline_pool_settled(h.project.scene.pool, 30000, &buf, &err));
    CHECK(has_member(buf, "u", "state", "ready"));
    wait_count(&h.done, 1);
    wait_count(&h.destroyed, 1);
    CHECK(h.status == TRUNKLINE_STATUS_OK && count_of(&h.asked) == 1);
    /* What was kept of an item is the host's, whatever became of the pool. */
    close_project(&h.project);
    CHECK(text_has(trunkline_buf_str(h.kept), "\"errors\":[]"));
    trunkline_buf_free(h.kept);
}

/* SPEC 16.1, I-17 */
static void every_form_of_an_operation_ends_once(void)
{
    host h = new_host();
    trunkline_queue *queue = NULL;
    trunkline_item items[8];
    size_t count = 0, all = 0;
    unsigned seen = 0;
    char hash[80];
    trunkline_buf *buf = NULL;
    h.project = open_project();
    trunkline_pool *pool = h.project.scene.pool;
    trunkline_str name = TRUNKLINE_LITERAL("p");
    OK(trunkline_pool_load_start(pool, text_of(h.project.settings), none, on_done, &h, on_destroy, NULL, &err));
    wait_count(&h.destroyed, 1);
    CHECK(h.status == TRUNKLINE_STATUS_OK && has_member(h.kept, "p", "reason", "pending_approval"));
    shown_hash(pool, hash);
    OK(trunkline_queue_new(&queue, &err));
    OK(trunkline_pool_load_enqueue(pool, text_of(h.project.settings), none, queue, 1, NULL, &err));
    OK(trunkline_pool_reload_enqueue(pool, none, queue, 2, NULL, &err));
    OK(trunkline_pool_settled_enqueue(pool, 30000, queue, 3, NULL, &err));
    OK(trunkline_pool_approvals_enqueue(pool, queue, 4, NULL, &err));
    OK(trunkline_pool_approve_enqueue(pool, name, text_of(hash), queue, 5, NULL, &err));
    OK(trunkline_pool_reject_enqueue(pool, name, text_of(hash), queue, 6, NULL, &err));
    OK(trunkline_pool_forget_enqueue(pool, name, queue, 7, NULL, &err));
    while (all < 7) {
        OK(trunkline_queue_drain(queue, items, 8, &count, &err));
        for (size_t i = 0; i < count; i++) {
            CHECK(items[i].status == TRUNKLINE_STATUS_OK && text_has(trunkline_buf_str(items[i].buf), "\"v\":1"));
            seen |= 1u << items[i].tag;
            trunkline_item_clear(&items[i]);
        }
        all += count;
        if (!count)
            pause_ms(1);
    }
    CHECK(all == 7 && seen == 0xfe);
    /* A start that fails destroys what it was given, and calls nothing else. */
    OK(trunkline_pool_close(pool, TRUNKLINE_DEFAULT, &err));
    FAILS(TRUNKLINE_STATUS_CLOSED, trunkline_pool_load(pool, text_of(h.project.settings), none, &buf, &err));
    FAILS(TRUNKLINE_STATUS_CLOSED, trunkline_pool_set_source(pool, TRUNKLINE_LITERAL("user"), none, &buf, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_pool_approve_start(pool, name, TRUNKLINE_LITERAL("\xff"), on_done, &h, on_destroy, NULL, &err));
    CHECK(buf == NULL && count_of(&h.destroyed) == 2 && count_of(&h.done) == 1);
    close_project(&h.project);
    trunkline_queue_free(queue);
}

int main(int argc, char **argv)
{
    begin_program(argc, argv);
    RUN(a_loaded_server_starts_once_what_was_shown_is_approved);
    RUN(sources_come_go_and_lose_trust);
    RUN(what_is_wrong_is_refused_by_its_name);
    RUN(a_handler_is_asked_for_an_input_and_may_change_sources_meanwhile);
    RUN(every_form_of_an_operation_ends_once);
    return 0;
}
