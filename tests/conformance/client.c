/*
 * The C client under test of the official conformance suite; `cargo xtask conformance` runs it.
 *
 * Its last argument is the URL of the suite's server; the scenario, the protocol version and the context are in the environment.
 * `TRUNKLINE_CONFORMANCE_SESSIONS` sessions share the server and make the calls in turn.
 */
#include <unistd.h>

#include "fixture.h"
#include "remote.h"

/* Shorter than the suite's own patience with a client, in seconds. */
static unsigned patience = 25;

#define SESSIONS_MAX 8

static const trunkline_str none = {NULL, 0};

static trunkline_pool *pool;
static trunkline_error *error;
static uint64_t sessions[SESSIONS_MAX];
static size_t count = 1;

static const char *scenario(void)
{
    const char *name = getenv("MCP_CONFORMANCE_SCENARIO");
    return name ? name : "";
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

/* Fills a form with its defaults. */
static void accept(void *user_data, uint32_t news, uint64_t request, trunkline_str text)
{
    (void)user_data;
    if (news != TRUNKLINE_REQUEST_EVENT_ASKED)
        return;
    json *asked = json_parse(text.ptr, text.len), *answer = json_new(JSON_OBJECT), *content = json_new(JSON_OBJECT);
    const json *members = json_get(json_get(json_get(asked, "params"), "requestedSchema"), "properties");
    for (size_t i = 0; members && i < members->count; i++)
        json_put(content, members->names[i], example(members->items[i]));
    json_put(answer, "action", json_new_text("accept"));
    json_put(answer, "content", content);
    char *written = json_write(answer);
    trunkline_request_answer(pool, request, text_of(written), NULL);
    free(written);
    json_free(answer);
    json_free(asked);
}

/* Whether an attempt is to be made again: the server wanted a sign-in, and now has one. The library decides how often it begins one. */
static bool has_signed_in(trunkline_status status)
{
    trunkline_buf *buf = NULL;
    if (status != TRUNKLINE_STATUS_AUTH_REQUIRED) {
        check(status);
        return false;
    }
    trunkline_error_free(error);
    error = NULL;
    check(trunkline_pool_sign_in(pool, text_of("conformance"), none, &buf, &error));
    json *begun = take_json(buf);
    char *back = visit_address(json_text(json_get(begun, "url")));
    json_free(begun);
    check(trunkline_pool_finish_sign_in(pool, text_of(back ? back : ""), &buf, &error));
    trunkline_buf_free(buf);
    free(back);
    return true;
}

static uint64_t acquire_lease(uint64_t session)
{
    uint64_t lease = 0;
    while (has_signed_in(trunkline_session_acquire(pool, session, text_of("conformance"), none, none, &lease, &error)))
        continue;
    return lease;
}

static void call(const char *tool, const json *arguments)
{
    static size_t turn;
    trunkline_buf *buf = NULL;
    trunkline_status status;
    uint64_t session = sessions[turn++ % count];
    char *written = arguments ? json_write(arguments) : NULL;
    trunkline_str given = written ? text_of(written) : none;
    do {
        status = trunkline_lease_call_tool(pool, acquire_lease(session), text_of(tool), given, NULL, &buf, &error);
    } while (has_signed_in(status));
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
    check(trunkline_lease_request(pool, lease, text_of(method), text_of(written), NULL, &buf, &error));
    trunkline_buf_free(buf);
    free(written);
    json_free(params);
}

static void look_at_everything(uint64_t session, uint64_t lease)
{
    trunkline_buf *buf = NULL;
    check(trunkline_session_resources(pool, session, &buf, &error));
    json *resources = take_json(buf);
    for (size_t i = 0; i < resources->count; i++) {
        json *params = json_new(JSON_OBJECT);
        json_put(params, "uri", json_copy(json_get(json_at(resources, i), "name")));
        request("resources/read", lease, params);
    }
    json_free(resources);
    check(trunkline_session_prompts(pool, session, &buf, &error));
    json *prompts = take_json(buf);
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

/* Who the host is to authorization servers: what the suite knows it by, else its document, else a registration. */
static json *oauth(const json *context)
{
    static const char *known[] = {"client_id", "client_secret"};
    json *oauth = json_new(JSON_OBJECT);
    json_put(oauth, "redirect_uri", json_new_text("http://localhost:3000/callback"));
    json_put(oauth, "client_metadata_url", json_new_text("https://conformance-test.local/client-metadata.json"));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (json_get(context, known[i]))
            json_put(oauth, known[i], json_copy(json_get(context, known[i])));
    if (!strcmp(scenario(), "auth/client-credentials-basic"))
        json_put(oauth, "grant_type", json_new_text("client_credentials"));
    return oauth;
}

static void reconcile(const char *url, const json *context)
{
    const char *version = getenv("MCP_CONFORMANCE_PROTOCOL_VERSION");
    bool is_modern = version && strcmp(version, "2026") >= 0;
    trunkline_buf *buf = NULL;
    json *servers = json_new(JSON_OBJECT), *server = json_new(JSON_OBJECT);
    json_put(server, "type", json_new_text("http"));
    json_put(server, "url", json_new_text(url));
    json_put(server, "era", json_new_text(is_modern ? "modern" : "legacy"));
    json_put(server, "share", json_new_text("pool"));
    json_put(server, "connect_timeout_ms", json_new_integer(patience * 1000LL));
    json_put(server, "oauth", oauth(context));
    json_put(servers, "conformance", server);
    char *written = json_write(servers);
    check(trunkline_pool_reconcile(pool, text_of(written), &buf, &error));
    trunkline_buf_free(buf);
    free(written);
    json_free(servers);
}

int main(int argc, char **argv)
{
    const char *given = getenv("MCP_CONFORMANCE_CONTEXT"), *wanted = getenv("TRUNKLINE_CONFORMANCE_SESSIONS");
    json *context = given && *given ? json_parse_z(given) : NULL;
    /* The scenarios in which the host can answer a form. */
    bool elicits = !strcmp(scenario(), "elicitation-sep1034-client-defaults") || !strcmp(scenario(), "sep-2322-client-request-state");
    uint64_t handlers = elicits ? TRUNKLINE_MASK(TRUNKLINE_HANDLER_ELICITATION) : 0;
    uint64_t lease[SESSIONS_MAX];
    trunkline_buf *buf = NULL;
    const char *seconds = getenv("TRUNKLINE_CONFORMANCE_PATIENCE");
    count = wanted ? (size_t)strtoul(wanted, NULL, 10) : 1;
    patience = seconds ? (unsigned)strtoul(seconds, NULL, 10) : patience;
    if (argc < 2 || count < 1 || count > SESSIONS_MAX) {
        fputs("usage: conformance URL\n", stderr);
        return 1;
    }
    alarm(patience);
    check(trunkline_pool_new_with_handlers(none, handlers, accept, NULL, NULL, &pool, &error));
    reconcile(argv[argc - 1], context);
    for (size_t who = 0; who < count; who++) {
        char options[64];
        snprintf(options, sizeof options, "{\"id\": \"session-%zu\", \"servers\": []}", who);
        check(trunkline_session_open(pool, text_of(options), &sessions[who], &error));
        lease[who] = acquire_lease(sessions[who]);
    }
    check(trunkline_lease_tools(pool, lease[0], &buf, &error));
    json *tools = take_json(buf);
    call_tools(tools, context);
    json_free(tools);
    json_free(context);
    if (!strcmp(scenario(), "http-standard-headers"))
        look_at_everything(sessions[count - 1], lease[count - 1]);
    check(trunkline_pool_close(pool, TRUNKLINE_DEFAULT, &error));
    trunkline_pool_free(pool);
    return 0;
}
