/* Secrets in what a host configures, looked for in all that the C ABI shows of it (S-48, SECURITY row 13). */
#define _POSIX_C_SOURCE 200809L
#include "counter.h"

#include <ctype.h>
#include <unistd.h>

static const trunkline_str none = {NULL, 0};

/* A mark of the inputs, which a secret takes the place of. */
static const char mark[] = "CANARY ";

/* One secret, and the place of the inputs that it stands at. */
typedef struct {
    char secret[32];
    char place[96];
} canary;

static canary canaries[64];
static size_t canary_count;

/* All that was shown, and where. Events come on a thread of the library. */
typedef struct {
    const char *place;
    char *text;
} view;

static view *views;
static size_t view_count, view_room;
static pthread_mutex_t views_lock = PTHREAD_MUTEX_INITIALIZER;

static void keep(const char *place, trunkline_str text)
{
    pthread_mutex_lock(&views_lock);
    if (view_count == view_room) {
        view_room = view_room * 2 + 64;
        views = realloc(views, view_room * sizeof *views);
        CHECK(views);
    }
    char *copy = malloc(text.len + 1);
    CHECK(copy);
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    views[view_count++] = (view){place, copy};
    pthread_mutex_unlock(&views_lock);
}

static void keep_buf(const char *place, trunkline_buf *buf)
{
    keep(place, trunkline_buf_str(buf));
    trunkline_buf_free(buf);
}

/* Everything that an error and what led to it can be asked for; frees it. */
static void keep_error(const char *place, trunkline_error *error)
{
    for (const trunkline_error *at = error; at; at = trunkline_error_cause(at)) {
        keep(place, trunkline_error_name(at));
        keep(place, trunkline_error_message(at));
        keep(place, trunkline_error_server(at));
        keep(place, trunkline_error_session(at));
        keep(place, trunkline_error_outcome(at));
        keep(place, trunkline_error_detail(at));
        keep(place, trunkline_error_hint(at));
        keep(place, trunkline_error_arguments(at));
        keep(place, trunkline_error_json(at));
    }
    trunkline_error_free(error);
}

/* What a function of the library gave: its result or its error, and one of both. */
static void keep_outcome(const char *place, trunkline_buf *buf, trunkline_error *error)
{
    CHECK((buf != NULL) != (error != NULL));
    if (error)
        keep_error(place, error);
    else
        keep_buf(place, buf);
}

static void keep_event(void *user_data, uint32_t event, trunkline_str json)
{
    (void)user_data;
    (void)event;
    keep("event", json);
}

static void note_destroy(void *user_data)
{
    count_up(user_data);
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    CHECK(file && fseek(file, 0, SEEK_END) == 0);
    long length = ftell(file);
    CHECK(length >= 0 && fseek(file, 0, SEEK_SET) == 0);
    char *text = malloc((size_t)length + 1);
    CHECK(text && fread(text, 1, (size_t)length, file) == (size_t)length);
    text[length] = '\0';
    fclose(file);
    return text;
}

/* Puts a secret in the place of a mark and of the words behind it; returns what is written. */
static size_t plant(char *to, const char **from)
{
    CHECK(canary_count < sizeof canaries / sizeof *canaries);
    canary *next = &canaries[canary_count];
    const char *words = *from + strlen(mark), *end = words;
    while (isalpha((unsigned char)*end) || *end == ' ')
        end++;
    snprintf(next->place, sizeof next->place, "%.*s", (int)(end - words), words);
    snprintf(next->secret, sizeof next->secret, "q%02zuZcanary%02zuY", canary_count, 97 - canary_count);
    canary_count++;
    *from = end;
    return (size_t)sprintf(to, "%s", next->secret);
}

/* The inputs, with a secret at each mark and the program of the tests as the server. */
static json *inputs(void)
{
    static const char server[] = "\"SERVER\"";
    const char *folder = getenv("TRUNKLINE_BEHAVIOUR"), *program = getenv("TRUNKLINE_TESTSERVER");
    char path[4096];
    CHECK(folder && snprintf(path, sizeof path, "%s/../canaries.json", folder) < (int)sizeof path);
    char *text = read_file(path), *planted = malloc(strlen(text) * 2 + strlen(program) * 8 + 1), *to = planted;
    CHECK(planted);
    for (const char *from = text; *from;) {
        if (strncmp(from, mark, strlen(mark)) == 0) {
            to += plant(to, &from);
        } else if (strncmp(from, server, strlen(server)) == 0) {
            to += sprintf(to, "\"%s\"", program);
            from += strlen(server);
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    json *value = json_parse_z(planted);
    CHECK(value);
    free(planted);
    free(text);
    return value;
}

static void reconcile(trunkline_pool *pool, const char *place, const json *servers)
{
    trunkline_buf *report = NULL;
    trunkline_error *error = NULL;
    char *text = json_write(servers);
    trunkline_pool_reconcile(pool, text_of(text), &report, &error);
    keep_outcome(place, report, error);
    free(text);
}

static void reconcile_refused(trunkline_pool *pool, const json *refused)
{
    json *servers = json_new(JSON_OBJECT);
    json_put(servers, "refused", json_copy(refused));
    reconcile(pool, "refused", servers);
    json_free(servers);
}

/* Acquires a server, and calls it. */
static void use_server(trunkline_pool *pool, uint64_t session, const char *server)
{
    static const char *const tools[] = {"pid", "nothing", "fail", "crash"};
    trunkline_error *error = NULL;
    trunkline_buf *buf = NULL;
    uint64_t lease = 0;
    trunkline_session_acquire(pool, session, text_of(server), none, none, &lease, &error);
    if (error) {
        keep_error("acquire", error);
        return;
    }
    OK(trunkline_lease_describe(pool, lease, &buf, &err));
    keep_buf("lease", buf);
    OK(trunkline_lease_tools(pool, lease, &buf, &err));
    keep_buf("tools of a lease", buf);
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        buf = NULL;
        trunkline_lease_call_tool(pool, lease, text_of(tools[i]), none, NULL, &buf, &error);
        keep_outcome("call", buf, error);
        error = NULL;
    }
}

/* Everything that a host can ask for, of a pool with these servers. */
static void show_all(const json *given)
{
    trunkline_pool *pool = NULL;
    trunkline_buf *buf = NULL;
    uint64_t session = 0, events = 0;
    counter destroyed = COUNTER;
    const json *refused = json_get(given, "refused"), *servers = json_get(given, "servers");
    OK(trunkline_pool_new(text_of("{\"cache\":\"off\"}"), &pool, &err));
    OK(trunkline_pool_subscribe(pool, TRUNKLINE_EVERY_EVENT, keep_event, &destroyed, note_destroy, &events, &buf, &err));
    keep_buf("snapshot", buf);
    for (size_t i = 0; i < refused->count; i++)
        reconcile_refused(pool, json_at(refused, i));
    reconcile(pool, "report", servers);
    OK(trunkline_session_open(pool, text_of("{\"id\":\"a\",\"servers\":[]}"), &session, &err));
    for (size_t i = 0; i < servers->count; i++) {
        use_server(pool, session, servers->names[i]);
        OK(trunkline_pool_explain(pool, text_of(servers->names[i]), &buf, &err));
        keep_buf("explain", buf);
        OK(trunkline_session_explain(pool, session, text_of(servers->names[i]), &buf, &err));
        keep_buf("explain of a session", buf);
    }
    OK(trunkline_session_tools(pool, session, &buf, &err));
    keep_buf("tools", buf);
    OK(trunkline_pool_status(pool, &buf, &err));
    keep_buf("status", buf);
    OK(trunkline_pool_close(pool, TRUNKLINE_DEFAULT, &err));
    trunkline_pool_free(pool);
    wait_count(&destroyed, 1);
}

/* The first thing shown that holds the text; NULL where none does. */
static const view *view_with(const char *text)
{
    for (size_t i = 0; i < view_count; i++)
        if (strstr(views[i].text, text))
            return &views[i];
    return NULL;
}

static size_t views_of(const char *place)
{
    size_t count = 0;
    for (size_t i = 0; i < view_count; i++)
        count += strcmp(views[i].place, place) == 0;
    return count;
}

/* Sends what the process writes to its output and its errors into a file while `given` is used, and keeps that too. */
static void show_all_and_output(const json *given)
{
    char path[64];
    make_log(path);
    fflush(NULL);
    int output = dup(STDOUT_FILENO), errors = dup(STDERR_FILENO);
    CHECK(output >= 0 && errors >= 0 && freopen(path, "w", stdout));
    CHECK(dup2(STDOUT_FILENO, STDERR_FILENO) >= 0);
    show_all(given);
    fflush(NULL);
    CHECK(dup2(output, STDOUT_FILENO) >= 0 && dup2(errors, STDERR_FILENO) >= 0);
    close(output);
    close(errors);
    char *written = read_file(path);
    keep("output", text_of(written));
    free(written);
    unlink(path);
}

/* S-48 */
static void no_secret_is_shown(void)
{
    json *given = inputs();
    show_all_and_output(given);
    CHECK(canary_count >= 20 && view_count > 100);
    CHECK(views_of("event") > 5 && views_of("call") >= 4 && views_of("acquire") > 20 && views_of("refused") > 5);
    CHECK(view_with("\"talks\""));
    size_t seen = 0;
    for (size_t i = 0; i < canary_count; i++) {
        const view *at = view_with(canaries[i].secret);
        if (at)
            fprintf(stderr, "%s is in %s: %.400s\n", canaries[i].place, at->place, at->text);
        seen += at != NULL;
    }
    CHECK(seen == 0);
    score("canary", (long)canary_count);
    for (size_t i = 0; i < view_count; i++)
        free(views[i].text);
    free(views);
    json_free(given);
}

int main(int argc, char **argv)
{
    begin_program(argc, argv);
    RUN(no_secret_is_shown);
    return 0;
}
