#define _POSIX_C_SOURCE 200809L
#include "settings.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* A path as the steps give it: relative to the case's folder. */
static void place(const run *run, const json *path, char full[512])
{
    const char *text = json_text(path);
    snprintf(full, 512, "%s%s%s", text[0] == '/' ? "" : run->folder, text[0] == '/' ? "" : "/", text);
}

/* The text of settings: a text as it is, anything else as JSON; empty for null. For the caller to free. */
static char *settings_of(const json *value)
{
    if (!json_is(value, JSON_TEXT))
        return value && !json_is(value, JSON_NULL) ? json_write(value) : calloc(1, 1);
    char *text = malloc(value->length + 1);
    CHECK(text);
    memcpy(text, value->text, value->length + 1);
    return text;
}

/* Makes the folders that a path is in. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        CHECK(mkdir(path, 0700) == 0 || errno == EEXIST);
        *slash = '/';
    }
}

/* As editors write: under another name first, which is then renamed. */
static outcome write_file(run *run, const json *arguments)
{
    char path[512], beside[520];
    place(run, json_at(arguments, 0), path);
    if (!json_at(arguments, 1) || json_is(json_at(arguments, 1), JSON_NULL)) {
        if (unlink(path) != 0)
            fail(run, "%s cannot be removed", path);
        return success(NULL);
    }
    make_folders(path);
    snprintf(beside, sizeof beside, "%s.new", path);
    char *text = settings_of(json_at(arguments, 1));
    FILE *file = fopen(beside, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
    if (rename(beside, path) != 0)
        fail(run, "%s cannot be written", path);
    free(text);
    return success(NULL);
}

static outcome load(run *run, const json *arguments)
{
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    char path[512], *options = written(arguments, 1);
    place(run, json_at(arguments, 0), path);
    trunkline_status status = trunkline_pool_load(run->pool, text_of(path), text_of(options), &buf, &err);
    free(options);
    return outcome_of(status, buf, err);
}

static outcome set_source(run *run, const json *arguments)
{
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    char *settings = settings_of(json_at(arguments, 1));
    trunkline_str source = text_of(json_text(json_at(arguments, 0)));
    trunkline_status status = trunkline_pool_set_source(run->pool, source, text_of(settings), &buf, &err);
    free(settings);
    return outcome_of(status, buf, err);
}

static outcome switch_source(run *run, const json *arguments)
{
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    trunkline_str source = text_of(json_text(json_at(arguments, 0)));
    uint32_t on = json_is_text(json_at(arguments, 1), "on");
    trunkline_status status = trunkline_pool_switch_source(run->pool, source, on, &buf, &err);
    return outcome_of(status, buf, err);
}

static outcome add_server(run *run, const json *arguments)
{
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    char *config = written(arguments, 1);
    trunkline_str server = text_of(json_text(json_at(arguments, 0)));
    trunkline_status status = trunkline_pool_add_server(run->pool, server, text_of(config), &buf, &err);
    free(config);
    return outcome_of(status, buf, err);
}

static outcome set_trusted(run *run, const json *arguments)
{
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    trunkline_status status = trunkline_pool_set_trusted(run->pool, json_is(json_at(arguments, 0), JSON_TRUE), &buf, &err);
    return outcome_of(status, buf, err);
}

static outcome reload(run *run, const json *arguments)
{
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    char *options = written(arguments, 0);
    trunkline_status status = trunkline_pool_reload(run->pool, text_of(options), &buf, &err);
    free(options);
    return outcome_of(status, buf, err);
}

static outcome approvals(run *run, const json *arguments)
{
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    (void)arguments;
    trunkline_status status = trunkline_pool_approvals(run->pool, &buf, &err);
    return outcome_of(status, buf, err);
}

/* A verb about one server by its name. */
static outcome about(run *run, const json *arguments,
                     trunkline_status (*function)(trunkline_pool *, trunkline_str, trunkline_buf **, trunkline_error **))
{
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    trunkline_status status = function(run->pool, text_of(json_text(json_at(arguments, 0))), &buf, &err);
    return outcome_of(status, buf, err);
}

static outcome remove_server(run *run, const json *arguments)
{
    return about(run, arguments, trunkline_pool_remove_server);
}

static outcome explain(run *run, const json *arguments)
{
    const json *session = json_at(arguments, 1);
    if (!session)
        return about(run, arguments, trunkline_pool_explain);
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    trunkline_status status = trunkline_session_explain(run->pool, session_named(run, json_text(session)),
                                                        text_of(json_text(json_at(arguments, 0))), &buf, &err);
    return outcome_of(status, buf, err);
}

static outcome forget(run *run, const json *arguments)
{
    return about(run, arguments, trunkline_pool_forget);
}

/* The hash is given as it is, or by what showed the request of that server. */
static const char *hash_of(const json *server, const json *shown)
{
    const json *requests = json_get(shown, "requests");
    for (size_t i = 0; requests && i < requests->count; i++)
        if (json_equal(json_get(requests->items[i], "server"), server))
            return json_text(json_get(requests->items[i], "hash"));
    return json_text(shown);
}

static outcome decide(run *run, const json *arguments,
                      trunkline_status (*function)(trunkline_pool *, trunkline_str, trunkline_str, trunkline_buf **,
                                                   trunkline_error **))
{
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    const json *server = json_at(arguments, 0);
    trunkline_str hash = text_of(hash_of(server, json_at(arguments, 1)));
    trunkline_status status = function(run->pool, text_of(json_text(server)), hash, &buf, &err);
    return outcome_of(status, buf, err);
}

static outcome approve(run *run, const json *arguments)
{
    return decide(run, arguments, trunkline_pool_approve);
}

static outcome reject(run *run, const json *arguments)
{
    return decide(run, arguments, trunkline_pool_reject);
}

bool run_settings_verb(run *run, const char *name, const json *arguments, outcome *outcome)
{
    static const verb verbs[] = {
        {"write", write_file},   {"load", load},           {"set_source", set_source}, {"switch_source", switch_source},
        {"reload", reload},      {"set_trusted", set_trusted}, {"add_server", add_server}, {"remove_server", remove_server},
        {"approvals", approvals}, {"approve", approve},     {"reject", reject},         {"forget", forget},
        {"explain", explain},
    };
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(verbs[i].name, name) == 0) {
            *outcome = verbs[i].call(run, arguments);
            return true;
        }
    }
    return false;
}
