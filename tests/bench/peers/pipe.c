/* The floor: requests made ready beforehand, written to a pipe; replies counted by their newlines. */
#define _GNU_SOURCE
#include "measure.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int to_server, from_server;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static pid_t start(const char *server) {
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0) fail("pipe");
    pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        close(out[0]);
        execl(server, server, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    to_server = in[1];
    from_server = out[0];
    return pid;
}

static void send_all(const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t n = write(to_server, bytes, length);
        if (n < 0) fail("write");
        bytes += n;
        length -= (size_t)n;
    }
}

/* Reads until `replies` newlines have come; a newline is only ever at the end of a read's last reply or between replies. */
static void receive(size_t replies) {
    static char buffer[1 << 18];
    while (replies > 0) {
        ssize_t n = read(from_server, buffer, sizeof buffer);
        if (n <= 0) fail("read");
        const char *at = buffer, *end = buffer + n;
        while (replies > 0 && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
            replies--;
            at++;
        }
    }
}

static void sequential(const char *name, const char *request) {
    size_t length = strlen(request), calls = 0;
    double end = now() + WARM_UP;
    while (now() < end) {
        send_all(request, length);
        receive(1);
    }
    double started = now(), before = cpu(), last = started;
    while (last - started < MEASURED && calls < TIMES_MAX) {
        send_all(request, length);
        receive(1);
        double t = now();
        times_us[calls++] = (t - last) * 1e6;
        last = t;
    }
    print_sequential(name, calls, last - started, cpu() - before);
}

static void wide(const char *name, const char *request) {
    size_t length = strlen(request), calls = 0;
    char *burst = malloc(length * WIDTH);
    if (burst == NULL) fail("malloc");
    for (size_t i = 0; i < WIDTH; i++) memcpy(burst + i * length, request, length);
    double started = now(), before = cpu();
    while (now() - started < MEASURED) {
        send_all(burst, length * WIDTH);
        receive(WIDTH);
        calls += WIDTH;
    }
    print_wide(name, calls, now() - started, cpu() - before);
    free(burst);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    pid_t pid = start(argv[1]);
    const char *hello = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
                        "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"floor\",\"version\":\"1\"}}}\n";
    const char *ready = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
    send_all(hello, strlen(hello));
    receive(1);
    send_all(ready, strlen(ready));
    const char *small = "{\"jsonrpc\":\"2.0\",\"id\":4294967296,\"method\":\"tools/call\",\"params\":{\"name\":\"big\",\"arguments\":{\"bytes\":100}}}\n";
    const char *large = "{\"jsonrpc\":\"2.0\",\"id\":4294967296,\"method\":\"tools/call\",\"params\":{\"name\":\"big\",\"arguments\":{\"bytes\":100000}}}\n";
    sequential("seq-100", small);
    wide("wide-100", small);
    sequential("seq-100k", large);
    wide("wide-100k", large);
    close(to_server);
    waitpid(pid, NULL, 0);
    return 0;
}
