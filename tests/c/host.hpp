// What tests of the C++ wrapper share: a pool with the reference server, and a count that callbacks keep.
#pragma once

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include "trunkline.hpp"

extern "C" {
#include "fixture.h"
}

/// A pool with the reference server as `s`, and the log of its starts.
struct host {
    explicit host(const char *flags = "", const char *options = "") : pool(options) {
        make_log(log);
        char *server = server_config(flags, log);
        pool.reconcile(std::string("{\"s\":") + server + "}");
        std::free(server);
        session = pool.open(R"({"id": "a", "servers": []})");
    }
    ~host() {
        UNTIL(processes_of(log) == 0);
        std::remove(log);
    }

    char log[64];
    trunkline::pool pool;
    trunkline::session session;
};

inline bool has(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }

/// A number that callbacks count up.
class tally {
public:
    void up() {
        std::lock_guard<std::mutex> lock(mutex_);
        count_++;
        changed_.notify_all();
    }
    void wait(int count) {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [&] { return count_ >= count; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int count_ = 0;
};
