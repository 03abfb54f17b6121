// A host that draws frames: figures ask servers for things, and no frame waits for an answer.
//
//     engine '{"demo": {"command": "...", "args": [...]}}'

#include <chrono>
#include <future>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <trunkline.hpp>

using namespace std::chrono_literals;

/// The length of a frame.
constexpr auto frame = 16ms;

/// Frames that the world may take to get its answers: half a minute.
constexpr int frames_max = 1800;

/// A figure of the world. It has a conversation of its own, and one question at a time.
class figure {
public:
    figure(const trunkline::pool &pool, std::string name)
        : name_(std::move(name)), session_(pool.open(R"({"id": ")" + name_ + R"("})")), ready_(session_.ready_async()) {}

    /// One frame of it: asks, looks whether the answer has come, and goes on meanwhile.
    void update() {
        steps_++;
        if (!answer_ && ready_.wait_for(0s) == std::future_status::ready) {
            ask();
        } else if (answer_ && answer_->valid()) {
            if (answer_->wait_for(0s) == std::future_status::ready)
                hear();
            else
                frames_without_++;
        }
    }

    bool has_heard() const { return heard_.has_value(); }
    const std::string &name() const { return name_; }
    const std::string &heard() const { return *heard_; }
    int steps() const { return steps_; }
    /// Frames that were drawn while the answer was on its way.
    int frames_without() const { return frames_without_; }

private:
    // What goes wrong is heard as well: the world goes on without an answer.
    void ask() {
        try {
            ready_.get();
            answer_ = session_.call_tool_async("mcp__demo__sleep", R"({"ms": 1500})");
        } catch (const trunkline::error &failed) {
            answer_.emplace();
            heard_ = failed.what();
        }
    }

    void hear() {
        try {
            heard_ = answer_->get();
        } catch (const trunkline::error &failed) {
            heard_ = failed.what();
        }
    }

    std::string name_;
    trunkline::session session_;
    std::future<void> ready_;
    std::optional<std::future<std::string>> answer_;
    std::optional<std::string> heard_;
    int steps_ = 0;
    int frames_without_ = 0;
};

int main(int argc, char **argv) {
    if (argc != 2) {
        std::cerr << "usage: engine SERVERS-JSON\n";
        return 1;
    }
    trunkline::pool pool;
    pool.reconcile(argv[1]);
    std::vector<figure> world;
    for (const char *name : {"smith", "guard", "fox"})
        world.emplace_back(pool, name);

    int frames = 0;
    for (bool is_quiet = false; !is_quiet && frames < frames_max; frames++) {
        is_quiet = true;
        for (figure &each : world) {
            each.update();
            is_quiet = is_quiet && each.has_heard();
        }
        std::this_thread::sleep_for(frame); // Where the world is drawn.
    }
    for (const figure &each : world) {
        if (!each.has_heard() || each.heard().find("slept") == std::string::npos || each.steps() != frames) {
            std::cerr << each.name() << " heard nothing of use: " << (each.has_heard() ? each.heard() : "") << "\n";
            return 1;
        }
        // An update that waits for the answer has it in the next frame.
        if (each.frames_without() == 0) {
            std::cerr << each.name() << " kept the world waiting\n";
            return 1;
        }
        std::cout << each.name() << ": " << each.heard() << "\n";
    }
    std::cout << "three figures, no frame waited\n";
    pool.close();
    return 0;
}
