#define _XOPEN_SOURCE 700
#include "case.h"

#include <ftw.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

/* Tags of events begin here; below are the numbers of operations. */
static const uint64_t FIRST_RECORD = 1u << 20;

void fail(run *run, const char *format, ...)
{
    va_list arguments;
    if (run->problem[0])
        return;
    va_start(arguments, format);
    vsnprintf(run->problem, sizeof run->problem, format, arguments);
    va_end(arguments);
}

named *find_named(named *all, size_t count, const char *name)
{
    for (size_t i = count; i-- > 0;)
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    return NULL;
}

outcome success(json *value)
{
    outcome outcome = {value, NULL, NULL};
    return outcome;
}

char *written(const json *arguments, size_t index)
{
    const json *value = json_at(arguments, index);
    if (!value || value->kind == JSON_NULL)
        return calloc(1, 1);
    return json_write(value);
}

static uint64_t handle_of(run *run, named *all, size_t count, const char *name)
{
    named *found = find_named(all, count, name);
    if (!found)
        fail(run, "no `%s` is known", name);
    return found ? found->handle : 0;
}

uint64_t session_named(run *run, const char *name)
{
    return handle_of(run, run->sessions, run->session_count, name);
}

uint64_t session_of(run *run, const json *arguments)
{
    return session_named(run, json_text(json_at(arguments, 0)));
}

uint64_t lease_of(run *run, const json *arguments)
{
    return handle_of(run, run->leases, run->lease_count, json_text(json_at(arguments, 0)));
}

void say_closed(json *error)
{
    if (json_is_text(json_get(error, "code"), "bad_handle"))
        json_put(error, "code", json_new_text("closed"));
}

uint64_t add_record(run *run, const char *name, trunkline_queue *queue)
{
    CHECK(run->record_count < NAMED_MAX);
    record *record = &run->records[run->record_count];
    snprintf(record->name, sizeof record->name, "%s", name);
    record->queue = queue;
    record->events = json_new(JSON_ARRAY);
    record->taken = json_new(JSON_OBJECT);
    return FIRST_RECORD + run->record_count++;
}

record *find_record(run *run, const char *name)
{
    for (size_t i = run->record_count; i-- > 0;)
        if (strcmp(run->records[i].name, name) == 0)
            return &run->records[i];
    return NULL;
}

desk *take_handlers(run *run, const char *name, json *options, uint64_t *offered)
{
    const json *scripts = json_get(options, "handlers");
    if (!scripts)
        return NULL;
    CHECK(run->desk_count < DESKS_MAX);
    desk *desk = &run->desks[run->desk_count++];
    *offered = begin_desk(desk, name, &run->pool, scripts);
    json_remove(options, "handlers");
    return desk;
}

desk *find_desk(run *run, const char *name)
{
    for (size_t i = run->desk_count; i-- > 0;)
        if (strcmp(run->desks[i].name, name) == 0)
            return &run->desks[i];
    return NULL;
}

outcome outcome_of(trunkline_status status, trunkline_buf *buf, trunkline_error *err)
{
    outcome outcome = {NULL, NULL, NULL};
    if (status != TRUNKLINE_STATUS_OK) {
        trunkline_str text = trunkline_error_json(err);
        outcome.error = json_parse(text.ptr, text.len);
        CHECK(outcome.error);
        trunkline_error_free(err);
        return outcome;
    }
    if (buf) {
        trunkline_str text = trunkline_buf_str(buf), raw = trunkline_buf_raw(buf);
        outcome.raw = malloc(raw.len + 1);
        CHECK(outcome.raw);
        memcpy(outcome.raw, raw.ptr, raw.len);
        outcome.raw[raw.len] = '\0';
        outcome.value = json_parse(text.ptr, text.len);
        trunkline_buf_free(buf);
    }
    return outcome;
}

void free_outcome(outcome *outcome)
{
    json_free(outcome->value);
    json_free(outcome->error);
    free(outcome->raw);
    memset(outcome, 0, sizeof *outcome);
}

static void take_item(run *run, trunkline_item *item)
{
    if (item->kind == TRUNKLINE_ITEM_KIND_DONE) {
        CHECK(item->tag < run->operation_count);
        operation *operation = &run->operations[item->tag];
        CHECK(!operation->ended);
        operation->ended = true;
        operation->outcome = outcome_of(item->status, item->buf, item->error);
        operation->lease = item->handle;
    } else if (item->kind == TRUNKLINE_ITEM_KIND_EVENT) {
        json_put(run->records[item->tag - FIRST_RECORD].events, NULL, take_json(item->buf));
    }
}

bool pump(run *run, trunkline_queue *queue, bool wait)
{
    trunkline_item items[32];
    size_t count = 0;
    struct pollfd polled = {trunkline_queue_fd(queue), POLLIN, 0};
    if (wait && poll(&polled, 1, STEP_SECONDS * 1000) != 1)
        return false;
    do {
        OK(trunkline_queue_drain(queue, items, 32, &count, &err));
        for (size_t i = 0; i < count; i++)
            take_item(run, &items[i]);
    } while (count == 32);
    return true;
}

/* The members that stand for a server of the tests, and the program of each, in one folder. */
static const char *const servers[][2] = {{"testserver", "trunkline-testserver"}, {"fault", "trunkline-faultserver"}};

enum { PATH_BYTES = 1024 };

/* The path of a program that is in the folder of the reference server. */
static void path_beside(char path[PATH_BYTES], const char *program)
{
    const char *reference = getenv("TRUNKLINE_TESTSERVER"), *slash = strrchr(reference, '/');
    snprintf(path, PATH_BYTES, "%.*s%s", slash ? (int)(slash + 1 - reference) : 0, reference, program);
}

/* `{"testserver": [flags], ...}` becomes the command that starts it. */
static void become_server(const run *run, json *object, const char *name, const char *program)
{
    const json *flags = json_get(object, name);
    char path[PATH_BYTES];
    path_beside(path, program);
    json *arguments = json_new(JSON_ARRAY);
    for (size_t i = 0; i < flags->count; i++)
        json_put(arguments, NULL, json_copy(flags->items[i]));
    json_put(arguments, NULL, json_new_text("--start-log"));
    json_put(arguments, NULL, json_new_text(run->log));
    json *server = json_new(JSON_OBJECT);
    json_put(server, "command", json_new_text(path));
    json_put(server, "args", arguments);
    for (size_t i = 0; i < object->count; i++)
        if (strcmp(object->names[i], name) != 0)
            json_put(server, object->names[i], json_copy(object->items[i]));
    json swapped = *object;
    *object = *server;
    *server = swapped;
    json_free(server);
}

json *resolved(const run *run, const json *value)
{
    if (json_is(value, JSON_TEXT) && value->text[0] == '$') {
        const json *saved = json_get(run->saved, value->text + 1);
        if (saved)
            return json_copy(saved);
    }
    if (value->count == 0)
        return json_copy(value);
    json *copy = json_new(value->kind);
    for (size_t i = 0; i < value->count; i++)
        json_put(copy, value->names ? value->names[i] : NULL, resolved(run, value->items[i]));
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++)
        if (json_is(json_get(copy, servers[i][0]), JSON_ARRAY))
            become_server(run, copy, servers[i][0], servers[i][1]);
    return copy;
}

/* Starts the servers that are reached by an address, and saves each address under its name. */
static void start_remotes(run *run, const json *remotes)
{
    for (size_t i = 0; remotes && i < remotes->count; i++) {
        CHECK(run->remote_count < REMOTES_MAX);
        const json *fault = json_get(remotes->items[i], "fault");
        json *flags = resolved(run, fault ? fault : remotes->items[i]);
        remote *remote = &run->remotes[run->remote_count++];
        char path[PATH_BYTES];
        path_beside(path, servers[fault ? 1 : 0][1]);
        start_remote(remote, path, flags);
        json_put(run->saved, remotes->names[i], json_new_text(remote->address));
        json_free(flags);
    }
}

/* The case's folder, with one for a workspace in it. */
static void make_folders(run *run)
{
    char path[sizeof run->folder + sizeof "/workspace"];
    make_folder(run->folder);
    run->saved = json_new(JSON_OBJECT);
    json_put(run->saved, "folder", json_new_text(run->folder));
    snprintf(path, sizeof path, "%s/file", run->folder);
    json_put(run->saved, "file", json_new_text(path));
    snprintf(path, sizeof path, "%s/workspace", run->folder);
    CHECK(mkdir(path, 0700) == 0);
    json_put(run->saved, "workspace", json_new_text(path));
}

void open_pool(run *run)
{
    const json *options = json_get(run->the_case, "options"), *servers = json_get(run->the_case, "servers");
    uint64_t subscription;
    trunkline_error *err = NULL;
    OK(trunkline_queue_new(&run->queue, &err));
    OK(trunkline_queue_new(&run->unread, &err));
    json *values = options ? resolved(run, options) : json_new(JSON_OBJECT);
    /* Never the decisions of the person who runs the cases. */
    if (!json_get(values, "approvals"))
        json_put(values, "approvals", json_new_text("memory"));
    /* Nor what other cases listed. */
    if (!json_get(values, "cache"))
        json_put(values, "cache", json_new_text("off"));
    uint64_t offered = 0;
    desk *desk = take_handlers(run, "pool", values, &offered);
    char *text = json_write(values);
    trunkline_status status =
        desk ? trunkline_pool_new_with_handlers(text_of(text), offered, ask_desk, desk, NULL, &run->pool, &err)
             : trunkline_pool_new(text_of(text), &run->pool, &err);
    if (status != TRUNKLINE_STATUS_OK) {
        trunkline_str why = trunkline_error_json(err);
        fail(run, "the pool's options: %.*s", (int)why.len, why.ptr);
        trunkline_error_free(err);
    } else {
        OK(trunkline_pool_subscribe_queue(run->pool, TRUNKLINE_EVERY_EVENT, run->queue, add_record(run, "pool", run->queue),
                                          &subscription, NULL, &err));
        if (servers) {
            outcome outcome = run_verb(run, "reconcile", servers);
            if (outcome.error)
                fail(run, "the servers: %s", json_text(json_get(outcome.error, "message")));
            free_outcome(&outcome);
        }
    }
    free(text);
    json_free(values);
}

void close_pool(run *run)
{
    trunkline_error *err = NULL;
    if (run->pool && trunkline_pool_close(run->pool, TRUNKLINE_DEFAULT, &err) != TRUNKLINE_STATUS_OK) {
        trunkline_str why = trunkline_error_json(err);
        fail(run, "the close: %.*s", (int)why.len, why.ptr);
        trunkline_error_free(err);
    }
    trunkline_pool_free(run->pool);
    run->pool = NULL;
    pump(run, run->queue, false);
    pump(run, run->unread, false);
    trunkline_queue_free(run->queue);
    trunkline_queue_free(run->unread);
    for (size_t i = 0; i < run->operation_count; i++)
        free_outcome(&run->operations[i].outcome);
    for (size_t i = 0; i < run->record_count; i++) {
        json_free(run->records[i].events);
        json_free(run->records[i].taken);
    }
    for (size_t i = 0; i < run->desk_count; i++)
        end_desk(&run->desks[i]);
    memset(run->operations, 0, sizeof run->operations);
    memset(run->records, 0, sizeof run->records);
    memset(run->sessions, 0, sizeof run->sessions);
    memset(run->leases, 0, sizeof run->leases);
    run->operation_count = run->record_count = run->desk_count = run->session_count = run->lease_count = 0;
}

void set_up(run *run, const json *the_case)
{
    memset(run, 0, sizeof *run);
    run->the_case = the_case;
    make_log(run->log);
    make_folders(run);
    start_remotes(run, json_get(the_case, "remotes"));
    open_pool(run);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

void tear_down(run *run)
{
    close_pool(run);
    for (size_t i = 0; i < run->remote_count; i++)
        end_remote(&run->remotes[i]);
    for (long long end = now_ms() + STEP_SECONDS * 1000; processes_of(run->log) > 0 && now_ms() < end;)
        pause_ms(10);
    if (processes_of(run->log) > 0)
        fail(run, "%d processes are left", processes_of(run->log));
    unlink(run->log);
    nftw(run->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    json_free(run->saved);
}
