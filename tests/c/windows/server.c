/* A server in a few lines, for Windows, which the reference server is not made for. `echo` answers with its `message`, `pid` with the
 * server's process, `helper` with that of a process that it starts and leaves alone, and `exit` not at all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "json.h"

/* Longer than any test takes. */
enum { IDLE_MS = 600000 };

static void answer(const json *message, const char *format, const char *inserted)
{
    char *id = json_write(json_get(message, "id"));
    printf("{\"jsonrpc\": \"2.0\", \"id\": %s, ", id);
    printf(format, inserted);
    printf("}\n");
    fflush(stdout);
    free(id);
}

static unsigned long start_helper(void)
{
    char line[MAX_PATH + 16], program[MAX_PATH];
    STARTUPINFOA how = {.cb = sizeof how};
    PROCESS_INFORMATION started = {0};
    GetModuleFileNameA(NULL, program, sizeof program);
    snprintf(line, sizeof line, "\"%s\" --idle", program);
    if (!CreateProcessA(NULL, line, NULL, NULL, FALSE, DETACHED_PROCESS, NULL, NULL, &how, &started))
        return 0;
    CloseHandle(started.hThread);
    CloseHandle(started.hProcess);
    return started.dwProcessId;
}

static void call(const json *message)
{
    const json *params = json_get(message, "params"), *name = json_get(params, "name");
    const char *text = json_text(json_get(json_get(params, "arguments"), "message"));
    char number[16];
    if (json_is_text(name, "exit"))
        exit(3);
    if (!json_is_text(name, "echo")) {
        unsigned long pid = json_is_text(name, "pid") ? GetCurrentProcessId() : start_helper();
        snprintf(number, sizeof number, "%lu", pid);
        text = number;
    }
    answer(message, "\"result\": {\"content\": [{\"type\":\"text\",\"text\":\"%s\"}]}", text);
}

int main(int argc, char **argv)
{
    static char line[1 << 16];
    if (argc > 1 && strcmp(argv[1], "--idle") == 0)
        Sleep(IDLE_MS);
    while (fgets(line, sizeof line, stdin)) {
        json *message = json_parse(line, strlen(line));
        const json *method = json_get(message, "method");
        if (json_is_text(method, "initialize"))
            answer(message, "\"result\": {\"protocolVersion\": \"2025-11-25\", \"capabilities\": {\"tools\": {}}, \"serverInfo\": %s}",
                   "{\"name\": \"small\", \"version\": \"1\"}");
        else if (json_is_text(method, "tools/list"))
            answer(message, "\"result\": {\"tools\": [%s]}",
                   "{\"name\": \"echo\", \"inputSchema\": {\"type\": \"object\"}}, {\"name\": \"pid\", \"inputSchema\": {\"type\": \"object\"}}, "
                   "{\"name\": \"helper\", \"inputSchema\": {\"type\": \"object\"}}, {\"name\": \"exit\", \"inputSchema\": {\"type\": \"object\"}}");
        else if (json_is_text(method, "tools/call"))
            call(message);
        else if (json_get(message, "id"))
            answer(message, "\"error\": {\"code\": -32601, \"message\": \"%s\"}", "no such method");
        json_free(message);
    }
    return 0;
}
