/* Secrets in what a host configures, looked for in all that the C ABI shows of it (S-48, SECURITY row 13). */
#define _POSIX_C_SOURCE 200809L
#include "counter.h"

#include <sys/stat.h>
#include <unistd.h>

#include "planted.h"
#include "remote.h"
#include "shown.h"

static const trunkline_str none = {NULL, 0};

/* Where a secret may be seen: the arguments of a process in its command line and in the request to approve it, and those of a call in
 * its error, which gives them back to its caller. */
static const struct {
    const char *canary;
    const char *place;
} may_be_seen[] = {
    {"an argument", "process"},
    {"an argument of what is approved", "approvals"},
    {"arguments of a call", "arguments"},
};

/* A pool with every input. */
typedef struct {
    trunkline_pool *pool;
    const json *given;
    /* Where the inputs' files are, and where the library writes. */
    char folder[80], home[80];
    uint64_t session;
    counter destroyed;
} scene_of_all;

static void keep_event(void *user_data, uint32_t event, trunkline_str json)
{
    (void)user_data;
    keep(event == TRUNKLINE_EVENT_APPROVAL_NEEDED ? "approvals" : "event", json);
}

static void keep_log(void *user_data, trunkline_str records)
{
    (void)user_data;
    keep("log", records);
}

static void count_destroy(void *user_data)
{
    scene_of_all *scene = user_data;
    count_up(&scene->destroyed);
}

/* A handler, which does for each server, or each kind of question, what is written down for it. C throws nothing: an answer that is no
 * object is what fails a handler. */
static void ask(void *user_data, uint32_t news, uint64_t request, trunkline_str text)
{
    scene_of_all *scene = user_data;
    trunkline_error *error = NULL;
    char failing[128];
    keep("question", text);
    if (news != TRUNKLINE_REQUEST_EVENT_ASKED)
        return;
    json *asked = json_parse(text.ptr, text.len);
    const json *kind = json_get(asked, "kind");
    const json *named = json_is_text(kind, "credentials") ? json_get(asked, "server") : kind;
    const json *script = json_get(json_get(scene->given, "answers"), json_text(named));
    const json *refusal = json_get(script, "refuse"), *failure = json_get(script, "fail"), *answer = json_get(script, "answer");
    if (refusal) {
        trunkline_request_refuse(scene->pool, request, -1, text_of(json_text(refusal)), &error);
    } else if (failure) {
        snprintf(failing, sizeof failing, "[\"%s\"]", json_text(failure));
        trunkline_request_answer(scene->pool, request, text_of(failing), &error);
    } else {
        char *given = answer ? json_write(answer) : NULL;
        trunkline_request_answer(scene->pool, request, text_of(given ? given : "{}"), &error);
        free(given);
    }
    if (error)
        keep_error("answer", error);
    json_free(asked);
}

/* What a function gives whose last arguments are `&buf` and `&error` is kept. */
#define KEEP(place, call)                 \
    do {                                  \
        trunkline_buf *buf = NULL;        \
        trunkline_error *error = NULL;    \
        (void)!(call);                    \
        keep_outcome(place, buf, error);  \
    } while (0)

/* The command lines of a server and of what holds it, and the environment of that. */
static void keep_processes(long server)
{
    for (long pid = server, parent = 0; pid > 1 && pid != getpid(); pid = parent) {
        char path[64];
        size_t length;
        snprintf(path, sizeof path, "/proc/%ld/cmdline", pid);
        keep_file("process", path);
        snprintf(path, sizeof path, "/proc/%ld/environ", pid);
        if (pid != server)
            keep_file("process", path);
        snprintf(path, sizeof path, "/proc/%ld/stat", pid);
        char *stat = read_file(path, &length);
        const char *behind = stat ? strrchr(stat, ')') : NULL;
        if (!behind || sscanf(behind, ") %*c %ld", &parent) != 1)
            parent = 0;
        free(stat);
    }
}

/* The process that the server says that it is. */
static long pid_in(trunkline_buf *buf)
{
    trunkline_str text = trunkline_buf_str(buf);
    json *result = json_parse(text.ptr, text.len);
    long pid = strtol(json_text(json_get(json_at(json_get(result, "content"), 0), "text")), NULL, 10);
    json_free(result);
    return pid;
}

static void call_all(const scene_of_all *scene, uint64_t lease)
{
    static const char *const tools[] = {"pid", "nothing", "fail", "crash"};
    trunkline_pool *pool = scene->pool;
    char *arguments = json_write(json_get(scene->given, "arguments"));
    KEEP("lease", trunkline_lease_describe(pool, lease, &buf, &error));
    KEEP("introduction", trunkline_lease_introduction(pool, lease, &buf, &error));
    KEEP("tools of a lease", trunkline_lease_tools(pool, lease, &buf, &error));
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        trunkline_buf *buf = NULL;
        trunkline_error *error = NULL;
        (void)!trunkline_lease_call_tool(pool, lease, text_of(tools[i]), text_of(arguments), NULL, &buf, &error);
        if (buf && i == 0)
            keep_processes(pid_in(buf));
        keep_outcome("call", buf, error);
    }
    OK(trunkline_lease_release(pool, lease, &err));
    free(arguments);
}

/* Acquires a server, calls it, and looks at what is said of it and of all. */
static void use_server(const scene_of_all *scene, uint64_t session, const char *server, const json *config)
{
    trunkline_pool *pool = scene->pool;
    const trunkline_str processes = TRUNKLINE_LITERAL("{\"processes\":true}");
    trunkline_error *error = NULL;
    uint64_t lease = 0;
    char *text = config ? json_write(config) : NULL;
    (void)!trunkline_session_acquire(pool, session, text_of(server), text ? text_of(text) : none, none, &lease, &error);
    free(text);
    if (error)
        keep_error("acquire", error);
    else
        call_all(scene, lease);
    KEEP("explain", trunkline_pool_explain(pool, text_of(server), &buf, &error));
    KEEP("explain", trunkline_session_explain(pool, session, text_of(server), &buf, &error));
    KEEP("introduction", trunkline_session_introduction(pool, session, text_of(server), &buf, &error));
    KEEP("tools", trunkline_session_tools(pool, session, &buf, &error));
    KEEP("status", trunkline_pool_status_with(pool, processes, &buf, &error));
    KEEP("metrics", trunkline_pool_metrics(pool, processes, &buf, &error));
}

static void reconcile(trunkline_pool *pool, const char *place, const json *servers)
{
    char *text = json_write(servers);
    KEEP(place, trunkline_pool_reconcile(pool, text_of(text), &buf, &error));
    free(text);
}

static void refuse_all(const scene_of_all *scene)
{
    const json *refused = json_get(scene->given, "refused");
    for (size_t i = 0; i < refused->count; i++) {
        json *servers = json_new(JSON_OBJECT);
        json_put(servers, "refused", json_copy(json_at(refused, i)));
        reconcile(scene->pool, "refused", servers);
        json_free(servers);
    }
}

/* A person signs in; the calls after that use the first token up, so that it is renewed. */
static void sign_in(const scene_of_all *scene, const char *server)
{
    const trunkline_str options = TRUNKLINE_LITERAL("{\"redirect_uri\":\"http://localhost:3000/callback\"}");
    trunkline_buf *begun = NULL;
    char code[48];
    OK(trunkline_pool_sign_in(scene->pool, text_of(server), options, &begun, &err));
    keep("sign-in", trunkline_buf_str(begun));
    json *address = take_json(begun);
    char *back = visit_address(json_text(json_get(address, "url")));
    const char *given = back ? strstr(back, "code=") : NULL;
    CHECK(given && sscanf(given, "code=%47[^&]", code) == 1);
    add_canary("a code of a sign in", code);
    for (int times = 0; times < 2; times++)
        KEEP("sign-in", trunkline_pool_finish_sign_in(scene->pool, text_of(back), &buf, &error));
    for (int times = 0; times < 3; times++)
        use_server(scene, scene->session, server, NULL);
    KEEP("sign-in", trunkline_pool_sign_out(scene->pool, text_of(server), &buf, &error));
    free(back);
    json_free(address);
}

static void use_settings(const scene_of_all *scene)
{
    uint64_t session = 0;
    OK(trunkline_session_open(scene->pool, text_of("{\"id\":\"settings\",\"servers\":[]}"), &session, &err));
    use_server(scene, session, "f", NULL);
    OK(trunkline_session_close(scene->pool, session, 0, &err));
}

/* Every settings file, as a text and as a file. */
static void settle_all(const scene_of_all *scene)
{
    const trunkline_str user = TRUNKLINE_LITERAL("user");
    const json *settings = json_get(scene->given, "settings");
    for (size_t i = 0; i < settings->count; i++) {
        char path[512];
        const json *content = json_at(settings, i);
        char *text = json_is(content, JSON_TEXT) ? NULL : json_write(content);
        snprintf(path, sizeof path, "%s/%s", scene->folder, settings->names[i]);
        KEEP("source", trunkline_pool_set_source(scene->pool, user, text_of(text ? text : json_text(content)), &buf, &error));
        use_settings(scene);
        KEEP("source", trunkline_pool_load(scene->pool, text_of(path), text_of("{\"source\":\"user\"}"), &buf, &error));
        use_settings(scene);
        KEEP("source", trunkline_pool_set_source(scene->pool, user, none, &buf, &error));
        free(text);
    }
}

static void approve(const scene_of_all *scene)
{
    const trunkline_str server = TRUNKLINE_LITERAL("approved");
    trunkline_buf *shown = NULL;
    char *text = json_write(json_get(scene->given, "approved"));
    KEEP("source", trunkline_pool_set_source(scene->pool, text_of("project"), text_of(text), &buf, &error));
    OK(trunkline_pool_approvals(scene->pool, &shown, &err));
    keep("approvals", trunkline_buf_str(shown));
    json *approvals = take_json(shown);
    const char *hash = json_text(json_get(json_at(json_get(approvals, "requests"), 0), "hash"));
    use_server(scene, scene->session, "approved", NULL);
    KEEP("approvals", trunkline_pool_approve(scene->pool, server, text_of(hash), &buf, &error));
    use_server(scene, scene->session, "approved", NULL);
    json_free(approvals);
    free(text);
}

static void open_all(scene_of_all *scene)
{
    char options[1024];
    uint64_t offered = TRUNKLINE_MASK(TRUNKLINE_HANDLER_INPUTS) | TRUNKLINE_MASK(TRUNKLINE_HANDLER_SECRETS);
    snprintf(options, sizeof options,
             "{\"cache\":\"%s/cache\",\"approvals\":\"%s/approvals.json\",\"status_file\":\"%s/status.json\",\"workspace\":\"%s\","
             "\"trusted\":true,\"commands\":true,\"drain_delay_ms\":0,\"limits\":{\"event_backlog\":65536}}",
             scene->home, scene->home, scene->home, scene->folder);
    OK(trunkline_pool_new_with_handlers(text_of(options), offered, ask, scene, count_destroy, &scene->pool, &err));
    const json *variables = json_get(scene->given, "variables");
    for (size_t i = 0; i < variables->count; i++)
        CHECK(setenv(variables->names[i], json_text(json_at(variables, i)), 1) == 0);
}

/* Everything that a host can ask for, of a pool with all inputs. */
static void use_all(scene_of_all *scene)
{
    const json *servers = json_get(scene->given, "servers"), *brought = json_get(scene->given, "brought");
    char *arguments = json_write(json_get(scene->given, "arguments"));
    uint64_t let_in = 0, mask = TRUNKLINE_MASK(TRUNKLINE_HANDLER_CREDENTIALS);
    refuse_all(scene);
    reconcile(scene->pool, "report", servers);
    OK(trunkline_session_open_with_handlers(scene->pool, text_of("{\"id\":\"let in\",\"servers\":[]}"), mask, ask, scene, count_destroy,
                                            &let_in, &err));
    OK(trunkline_session_open(scene->pool, text_of("{\"id\":\"a\",\"servers\":[]}"), &scene->session, &err));
    for (size_t i = 0; i < servers->count; i++) {
        bool is_let_in = json_get(json_get(scene->given, "answers"), servers->names[i]);
        use_server(scene, is_let_in ? let_in : scene->session, servers->names[i], NULL);
    }
    for (size_t i = 0; i < brought->count; i++)
        use_server(scene, scene->session, "own", json_at(brought, i));
    KEEP("call", trunkline_session_call_tool(scene->pool, scene->session, text_of("nothing"), text_of(arguments), NULL, &buf, &error));
    sign_in(scene, "person");
    approve(scene);
    settle_all(scene);
    free(arguments);
}

static void show_all(scene_of_all *scene)
{
    char path[128];
    trunkline_buf *buf = NULL;
    trunkline_logs *logs = NULL;
    uint64_t events = 0;
    OK(trunkline_logs_new(text_of("trace"), keep_log, scene, count_destroy, &logs, &err));
    open_all(scene);
    OK(trunkline_pool_subscribe(scene->pool, TRUNKLINE_EVERY_EVENT, keep_event, scene, count_destroy, &events, &buf, &err));
    keep_buf("snapshot", buf);
    use_all(scene);
    snprintf(path, sizeof path, "%s/status.json", scene->home);
    UNTIL(access(path, R_OK) == 0);
    keep_folder("file", scene->home);
    OK(trunkline_pool_close(scene->pool, TRUNKLINE_DEFAULT, &err));
    trunkline_pool_free(scene->pool);
    trunkline_logs_free(logs);
    /* Those of the pool and of the session, the subscription and the logs. */
    wait_count(&scene->destroyed, 4);
    keep_folder("file", scene->home);
}

/* Sends what the process writes to its output and its errors into a file meanwhile, and keeps that too. */
static void show_all_and_output(scene_of_all *scene)
{
    char path[64];
    make_log(path);
    fflush(NULL);
    int output = dup(STDOUT_FILENO), errors = dup(STDERR_FILENO);
    CHECK(output >= 0 && errors >= 0 && freopen(path, "w", stdout));
    /* What fails meanwhile is said where it is read: that file goes with the run. */
    failures = errors;
    CHECK(dup2(STDOUT_FILENO, STDERR_FILENO) >= 0);
    show_all(scene);
    fflush(NULL);
    CHECK(dup2(output, STDOUT_FILENO) >= 0 && dup2(errors, STDERR_FILENO) >= 0);
    failures = STDERR_FILENO;
    close(output);
    close(errors);
    keep_file("output", path);
    unlink(path);
}

static void check_views(void)
{
    static const char *const places[] = {"event", "log", "file", "question", "acquire", "call", "source", "refused", "process", "sign-in",
                                         "explain", "metrics", "status"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (views_of(places[i]) < 4)
            fprintf(stderr, "next to nothing is shown as %s\n", places[i]);
        CHECK(views_of(places[i]) >= 4);
    }
    CHECK(canary_count >= 40 && views_in_all() > 500);
}

/* How often a secret is seen where it may not be. What may be seen has to be: so a search that finds nothing is noticed. */
static size_t find_all(void)
{
    size_t seen = 0;
    for (size_t i = 0; i < canary_count; i++) {
        const char *allowed = NULL;
        bool is_allowed = false;
        for (size_t j = 0; j < sizeof may_be_seen / sizeof *may_be_seen; j++)
            if (strcmp(may_be_seen[j].canary, canaries[i].place) == 0)
                allowed = may_be_seen[j].place;
        seen += find_secret(canaries[i].secret, canaries[i].place, allowed, &is_allowed);
        if (is_allowed != (allowed != NULL))
            fprintf(stderr, "%s is not in %s\n", canaries[i].place, allowed);
        seen += is_allowed != (allowed != NULL);
    }
    return seen;
}

/* S-48 */
static void no_secret_is_shown(void)
{
    char base[64], command[128];
    scene_of_all scene = {.destroyed = COUNTER};
    make_folder(base);
    snprintf(scene.folder, sizeof scene.folder, "%s/given", base);
    snprintf(scene.home, sizeof scene.home, "%s/home", base);
    CHECK(mkdir(scene.folder, 0700) == 0 && mkdir(scene.home, 0700) == 0);
    json *given = plant_inputs(scene.folder);
    scene.given = given;
    show_all_and_output(&scene);
    end_inputs();
    check_views();
    CHECK(find_all() == 0);
    score("canary/c", (long)canary_count);
    free_views();
    json_free(given);
    snprintf(command, sizeof command, "rm -r %s", base);
    CHECK(system(command) == 0);
}

/* A secret as it is, and within the code of basic authentication. */
static void the_search_finds_what_is_shown(void)
{
    bool is_plain = false, is_coded = false, is_there = false;
    keep("plain", text_of("a secretvalue77 b"));
    keep("coded", text_of("Basic dXNlcjpzZWNyZXR2YWx1ZTc4"));
    CHECK(find_secret("secretvalue77", "a plain one", "plain", &is_plain) == 0 && is_plain);
    CHECK(find_secret("secretvalue78", "a coded one", "coded", &is_coded) == 0 && is_coded);
    CHECK(find_secret("secretvalue79", "none", NULL, &is_there) == 0 && !is_there);
}

int main(int argc, char **argv)
{
    begin_program(argc, argv);
    RUN(the_search_finds_what_is_shown);
    RUN(no_secret_is_shown);
    return 0;
}
