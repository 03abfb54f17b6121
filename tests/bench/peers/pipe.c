/* The floor: requests made ready beforehand, written to a pipe; replies counted by their newlines. With --epoll it waits as one does who
 * has other things to wait for too. The same over HTTP, on one connection, where a reply is over when its body is. */
#define _GNU_SOURCE
#include "measure.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int to_server, from_server;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static pid_t start(const char *server, char *const *arguments) {
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0) fail("pipe");
    pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        close(out[0]);
        execv(server, arguments);
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

/* What waits for the pipe, or none: then each read does. */
static int waiter = -1;

static void wait_by_epoll(void) {
    struct epoll_event event = {.events = EPOLLIN};
    waiter = epoll_create1(EPOLL_CLOEXEC);
    if (waiter < 0 || epoll_ctl(waiter, EPOLL_CTL_ADD, from_server, &event) != 0) fail("epoll");
    if (fcntl(from_server, F_SETFL, O_NONBLOCK) != 0) fail("fcntl");
}

/* Whether a reply is waited for by poll: the least that it costs a client that does not wait for ever. */
static int is_polled;

static void await_reply(void) {
    struct pollfd reply = {from_server, POLLIN, 0};
    struct epoll_event event;
    if (is_polled && poll(&reply, 1, 1000) != 1) fail("poll");
    if (waiter >= 0 && epoll_wait(waiter, &event, 1, -1) != 1) fail("epoll_wait");
}

/* Reads until `replies` newlines have come; a newline is only ever at the end of a read's last reply or between replies. */
static void receive(size_t replies) {
    static char buffer[1 << 18];
    while (replies > 0) {
        await_reply();
        ssize_t n = read(from_server, buffer, sizeof buffer);
        if (n <= 0) fail("read");
        const char *at = buffer, *end = buffer + n;
        while (replies > 0 && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
            replies--;
            at++;
        }
    }
}

static char answer[1 << 16];

/* Reads one answer of HTTP, which has a length. */
static void receive_http(int socket) {
    size_t have = 0, whole = 0;
    while (whole == 0 || have < whole) {
        ssize_t n = read(socket, answer + have, sizeof answer - 1 - have);
        if (n <= 0) fail("read");
        have += (size_t)n;
        answer[have] = '\0';
        const char *body = strstr(answer, "\r\n\r\n");
        const char *length = strcasestr(answer, "content-length:");
        if (body != NULL && length != NULL) whole = (size_t)(body + 4 - answer) + strtoul(length + 15, NULL, 10);
    }
}

/* Where requests go: the pipe, or a socket. */
static int over_http = -1;

static void ask(const char *request, size_t length) {
    if (over_http < 0) {
        send_all(request, length);
        receive(1);
        return;
    }
    if (write(over_http, request, length) != (ssize_t)length) fail("write");
    receive_http(over_http);
}

static void sequential(const char *name, const char *request) {
    size_t length = strlen(request), calls = 0;
    double end = now() + WARM_UP;
    while (now() < end) ask(request, length);
    double started = now(), before = cpu(), last = started;
    while (last - started < MEASURED && calls < TIMES_MAX) {
        ask(request, length);
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

static const char *const HELLO =
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
    "\"clientInfo\":{\"name\":\"floor\",\"version\":\"1\"}}}\n";
static const char *const READY = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

static const char *call_of(const char *tool, int bytes) {
    static char calls[4][256];
    static int used;
    char *call = calls[used++ % 4];
    snprintf(call, sizeof calls[0],
             "{\"jsonrpc\":\"2.0\",\"id\":4294967296,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
             "\"arguments\":{\"bytes\":%d}}}\n",
             tool, bytes);
    return call;
}

static void over_a_pipe(const char *server, int by_epoll) {
    char *const arguments[] = {(char *)server, NULL};
    pid_t pid = start(server, arguments);
    if (by_epoll) wait_by_epoll();
    send_all(HELLO, strlen(HELLO));
    receive(1);
    send_all(READY, strlen(READY));
    const char *small = call_of("big", 100), *large = call_of("big", 100000);
    sequential("seq-100", small);
    wide("wide-100", small);
    sequential("seq-100k", large);
    wide("wide-100k", large);
    sequential("seq-100k-structured", call_of("structured", 100000));
    if (!by_epoll) {
        is_polled = 1;
        sequential("seq-100-polled", small);
        is_polled = 0;
    }
    close(to_server);
    waitpid(pid, NULL, 0);
}

static char session[128];

static const char *post_of(const char *body) {
    static char post[2048];
    snprintf(post, sizeof post,
             "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, "
             "text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n%sContent-Length: %zu\r\n\r\n%s",
             session, strlen(body), body);
    return post;
}

static void over_a_socket(const char *server) {
    char *const arguments[] = {(char *)server, "--http", "0", "--http-faults", "json", NULL};
    pid_t pid = start(server, arguments);
    char address[128];
    ssize_t n = read(from_server, address, sizeof address - 1);
    if (n <= 0) fail("read");
    address[n] = '\0';
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    to.sin_port = htons((uint16_t)atoi(strrchr(address, ':') + 1));
    over_http = socket(AF_INET, SOCK_STREAM, 0);
    int one = 1;
    setsockopt(over_http, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(over_http, (struct sockaddr *)&to, sizeof to) != 0) fail("connect");
    const char *hello = post_of(HELLO);
    ask(hello, strlen(hello));
    const char *id = strcasestr(answer, "mcp-session-id:");
    if (id != NULL) snprintf(session, sizeof session, "%.*s\r\n", (int)strcspn(id, "\r"), id);
    const char *ready = post_of(READY);
    ask(ready, strlen(ready));
    sequential("http-100", post_of(call_of("big", 100)));
    close(over_http);
    close(to_server);
    waitpid(pid, NULL, 0);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    const char *server = argv[argc - 1];
    int by_epoll = strcmp(argv[1], "--epoll") == 0;
    if (is_wanted("calls")) over_a_pipe(server, by_epoll);
    if (is_wanted("http") && !by_epoll) over_a_socket(server);
    return 0;
}
