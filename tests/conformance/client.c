/*
 * The C client under test of the official conformance suite; `cargo xtask conformance` runs it.
 *
 * Its last argument is the URL of the suite's server; the scenario, the protocol version and the context are in the environment.
 * `TRUNKLINE_CONFORMANCE_SESSIONS` sessions share the server and make the calls in turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trunkline.h>

#include "json.h"

/* Shorter than the suite's own patience with a client, in seconds. */
#define PATIENCE 25

#define SESSIONS_MAX 8

static const trunkline_str none = {NULL, 0};

static trunkline_pool *pool;
static trunkline_error *error;
static uint64_t sessions[SESSIONS_MAX], leases[SESSIONS_MAX];
static size_t count = 1;

static const char *scenario(void)
{
    const char *name = getenv("MCP_CONFORMANCE_SCENARIO");
    return name ? name : "";
}

static trunkline_str text(const char *text)
{
    return TRUNKLINE_TEXT(text, strlen(text));
}

/* Ends the program, and the pool with it, when something failed. */
static void check(trunkline_status status)
{
    if (status == TRUNKLINE_STATUS_OK)
        return;
    trunkline_str name = trunkline_error_name(error), message = trunkline_error_message(error);
    trunkline_str text = trunkline_error_detail(error);
    json *detail = json_parse(text.ptr, text.len);
    /* A server that offers nothing has nothing to be called. */
    bool is_empty = json_is_text(json_get(detail, "reason"), "nothing_listed");
    json_free(detail);
    if (is_empty) {
        trunkline_pool_close(pool, TRUNKLINE_DEFAULT, NULL);
        exit(0);
    }
    fprintf(stderr, "%.*s: %.*s\n", (int)name.len, name.ptr, (int)message.len, message.ptr);
    trunkline_error_free(error);
    trunkline_pool_close(pool, TRUNKLINE_DEFAULT, NULL);
    exit(1);
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

/* A value that a schema accepts, with the required members alone. */
static json *example(const json *schema)
{
    const json *kind = json_get(schema, "type"), *words = json_get(schema, "enum");
    const json *required = json_get(schema, "required"), *members = json_get(schema, "properties");
    if (json_get(schema, "default"))
        return json_copy(json_get(schema, "default"));
    if (json_at(words, 0))
        return json_copy(json_at(words, 0));
    if (members || json_is_text(kind, "object")) {
        json *object = json_new(JSON_OBJECT);
        for (size_t i = 0; required && i < required->count; i++) {
            const char *name = json_text(json_at(required, i));
            json_put(object, name, example(json_get(members, name)));
        }
        return object;
    }
    if (json_is_text(kind, "integer") || json_is_text(kind, "number"))
        return json_new_integer(5);
    if (json_is_text(kind, "boolean"))
        return json_new(JSON_TRUE);
    if (json_is_text(kind, "array"))
        return json_new(JSON_ARRAY);
    return json_is_text(kind, "string") ? json_new_text("test") : json_new(JSON_NULL);
}

static void call(const char *tool, const json *arguments)
{
    static size_t turn;
    trunkline_buf *buf = NULL;
    char *written = arguments ? json_write(arguments) : NULL;
    check(trunkline_lease_call_tool(pool, leases[turn++ % count], text(tool), written ? text(written) : none, NULL, &buf, &error));
    trunkline_buf_free(buf);
    free(written);
}

static const json *schema_of(const json *tool)
{
    return json_get(json_get(tool, "definition"), "inputSchema");
}

/* Hands the schema of the other tool to the one that echoes it. */
static void echo_schema(const json *tools)
{
    for (size_t i = 0; i < tools->count; i++) {
        const json *tool = json_at(tools, i);
        if (json_is_text(json_get(tool, "own_name"), "json_schema_echo"))
            continue;
        json *arguments = json_new(JSON_OBJECT);
        json_put(arguments, "schema", json_copy(schema_of(tool)));
        call("json_schema_echo", arguments);
        json_free(arguments);
        return;
    }
}

/* Calls what the suite asks for, else every tool. */
static void call_tools(const json *tools, const json *context)
{
    const json *wanted = json_get(context, "toolCalls");
    if (!strcmp(scenario(), "json-schema-ref-no-deref"))
        return;
    if (!strcmp(scenario(), "json-schema-2020-12-preservation")) {
        echo_schema(tools);
        return;
    }
    for (size_t i = 0; wanted && i < wanted->count; i++)
        call(json_text(json_get(json_at(wanted, i), "name")), json_get(json_at(wanted, i), "arguments"));
    for (size_t i = 0; !wanted && i < tools->count; i++) {
        json *arguments = example(schema_of(json_at(tools, i)));
        call(json_text(json_get(json_at(tools, i), "own_name")), arguments);
        json_free(arguments);
    }
}

/* Sends a request whose parameters are given up. */
static void request(const char *method, uint64_t lease, json *params)
{
    trunkline_buf *buf = NULL;
    char *written = json_write(params);
    check(trunkline_lease_request(pool, lease, text(method), text(written), NULL, &buf, &error));
    trunkline_buf_free(buf);
    free(written);
    json_free(params);
}

static void look_at_everything(uint64_t session, uint64_t lease)
{
    trunkline_buf *buf = NULL;
    check(trunkline_session_resources(pool, session, &buf, &error));
    json *resources = parsed(buf);
    for (size_t i = 0; i < resources->count; i++) {
        json *params = json_new(JSON_OBJECT);
        json_put(params, "uri", json_copy(json_get(json_at(resources, i), "name")));
        request("resources/read", lease, params);
    }
    json_free(resources);
    check(trunkline_session_prompts(pool, session, &buf, &error));
    json *prompts = parsed(buf);
    for (size_t i = 0; i < prompts->count; i++) {
        const json *prompt = json_at(prompts, i), *wanted = json_get(json_get(prompt, "definition"), "arguments");
        json *params = json_new(JSON_OBJECT), *arguments = json_new(JSON_OBJECT);
        for (size_t k = 0; wanted && k < wanted->count; k++)
            json_put(arguments, json_text(json_get(json_at(wanted, k), "name")), json_new_text("test"));
        json_put(params, "name", json_copy(json_get(prompt, "name")));
        json_put(params, "arguments", arguments);
        request("prompts/get", lease, params);
    }
    json_free(prompts);
}

static void reconcile(const char *url)
{
    const char *version = getenv("MCP_CONFORMANCE_PROTOCOL_VERSION");
    bool is_modern = version && strcmp(version, "2026") >= 0;
    trunkline_buf *buf = NULL;
    json *servers = json_new(JSON_OBJECT), *server = json_new(JSON_OBJECT);
    json_put(server, "type", json_new_text("http"));
    json_put(server, "url", json_new_text(url));
    json_put(server, "era", json_new_text(is_modern ? "modern" : "legacy"));
    json_put(servers, "conformance", server);
    char *written = json_write(servers);
    check(trunkline_pool_reconcile(pool, text(written), &buf, &error));
    trunkline_buf_free(buf);
    free(written);
    json_free(servers);
}

int main(int argc, char **argv)
{
    const char *given = getenv("MCP_CONFORMANCE_CONTEXT"), *wanted = getenv("TRUNKLINE_CONFORMANCE_SESSIONS");
    json *context = given && *given ? json_parse_z(given) : NULL;
    trunkline_buf *buf = NULL;
    count = wanted ? (size_t)strtoul(wanted, NULL, 10) : 1;
    if (argc < 2 || count < 1 || count > SESSIONS_MAX) {
        fputs("usage: conformance URL\n", stderr);
        return 1;
    }
    alarm(PATIENCE);
    check(trunkline_pool_new(none, &pool, &error));
    reconcile(argv[argc - 1]);
    for (size_t who = 0; who < count; who++) {
        char options[64];
        snprintf(options, sizeof options, "{\"id\": \"session-%zu\", \"servers\": []}", who);
        check(trunkline_session_open(pool, text(options), &sessions[who], &error));
        check(trunkline_session_acquire(pool, sessions[who], text("conformance"), none, none, &leases[who], &error));
    }
    check(trunkline_lease_tools(pool, leases[0], &buf, &error));
    json *tools = parsed(buf);
    call_tools(tools, context);
    json_free(tools);
    json_free(context);
    if (!strcmp(scenario(), "http-standard-headers"))
        look_at_everything(sessions[count - 1], leases[count - 1]);
    check(trunkline_pool_close(pool, TRUNKLINE_DEFAULT, &error));
    trunkline_pool_free(pool);
    return 0;
}
