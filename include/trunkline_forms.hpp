/*
 * Operations that do not wait, in their forms: into a queue, to a callback, for a coroutine. Include trunkline.hpp.
 *
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 */
#ifndef TRUNKLINE_FORMS_HPP
#define TRUNKLINE_FORMS_HPP

#include <type_traits>

#ifdef __cpp_impl_coroutine
#include <coroutine>
#endif

#include "trunkline_queue.hpp"

namespace trunkline {

namespace detail {

/** What operations are started on: an object of a pool, or the pool itself. */
struct target {
    std::shared_ptr<pool_place> place;
    std::uint64_t number = 0;

    trunkline_pool *pool() const noexcept { return place ? place->raw() : nullptr; }
};

/** No temporary: GCC 12 moves one of a `co_await` byte by byte, and what points into itself then points elsewhere. */
inline const call_options &default_options() {
    static const call_options options;
    return options;
}

/** What an operation gave, out of the item that tells of its end. */
template <class Value> Value value_of(const std::shared_ptr<pool_place> &place, trunkline_item &item) {
    if constexpr (std::is_same_v<Value, std::string>)
        return take(std::exchange(item.buf, nullptr));
    else if constexpr (!std::is_void_v<Value>)
        return Value(place, std::exchange(item.handle, 0));
}

} // namespace detail

/** How an operation ended: what it gave, or why it failed. */
template <class Value> class [[nodiscard]] outcome {
public:
    /** Takes what an item holds. */
    outcome(const std::shared_ptr<detail::pool_place> &place, trunkline_item &item) noexcept {
        try {
            if (item.status != TRUNKLINE_STATUS_OK)
                throw error(std::exchange(item.error, nullptr));
            if constexpr (std::is_void_v<Value>)
                value_.emplace(true);
            else
                value_.emplace(detail::value_of<Value>(place, item));
        } catch (...) {
            failure_ = std::current_exception();
        }
    }
    /** Whether it succeeded. */
    explicit operator bool() const noexcept { return !failure_; }
    /** What it gave, which the outcome has no more then. Throws what it failed with, an `error`. */
    Value get() {
        if (failure_)
            std::rethrow_exception(failure_);
        if constexpr (!std::is_void_v<Value>)
            return std::move(*value_);
    }
    /** What it failed with, or nothing. */
    std::exception_ptr failure() const noexcept { return failure_; }

private:
    std::optional<std::conditional_t<std::is_void_v<Value>, bool, Value>> value_;
    std::exception_ptr failure_;
};

namespace detail {

/** The end comes out of a queue. Gives the number that `pool::cancel` takes. */
struct queue_form {
    target of;
    trunkline_queue *queue;
    std::uint64_t tag;

    template <class Value, class Start, class Enqueue, class... Arguments>
    std::uint64_t run(Start, Enqueue enqueue, Arguments... arguments) const {
        std::uint64_t number = 0;
        checked([&](trunkline_error **err) { return enqueue(of.pool(), arguments..., queue, tag, &number, err); });
        return number;
    }
};

/** A function and what it needs to be called with the end of an operation. */
template <class Value, class Function> struct callback {
    std::shared_ptr<pool_place> place;
    Function function;

    static void done(void *user_data, trunkline_item *item) noexcept {
        auto &self = *static_cast<callback *>(user_data);
        try {
            self.function(outcome<Value>(self.place, *item));
        } catch (...) {
            // An exception must not reach the library, and nobody else is here to take it.
        }
    }
    static void destroy(void *user_data) noexcept { delete static_cast<callback *>(user_data); }
};

/** Starts an operation whose end `function` is called with. */
template <class Value, class Function, class Start, class... Arguments>
void begin(const target &of, Function function, std::uint64_t *out_op, Start start, Arguments... arguments) {
    using kept = callback<Value, Function>;
    void *user_data = new kept{of.place, std::move(function)}; // The library destroys it, also when the start fails.
    checked([&](trunkline_error **err) {
        return start(of.pool(), arguments..., &kept::done, user_data, &kept::destroy, out_op, err);
    });
}

/** A function is called with the end. Gives the number that `pool::cancel` takes. */
template <class Function> struct callback_form {
    target of;
    Function function;

    template <class Value, class Start, class Enqueue, class... Arguments>
    std::uint64_t run(Start start, Enqueue, Arguments... arguments) {
        std::uint64_t number = 0;
        begin<Value>(of, copied(), &number, start, arguments...);
        return number;
    }

private:
    Function copied() {
        if constexpr (std::is_copy_constructible_v<Function>)
            return function;
        else
            return std::move(function);
    }
};

/** A future gets the end. */
struct future_form {
    target of;
    std::uint64_t *out_op;

    template <class Value, class Start, class Enqueue, class... Arguments>
    std::future<Value> run(Start start, Enqueue, Arguments... arguments) const {
        std::promise<Value> promise;
        std::future<Value> future = promise.get_future();
        auto keep = [promise = std::move(promise)](outcome<Value> end) mutable {
            if (!end)
                promise.set_exception(end.failure());
            else if constexpr (std::is_void_v<Value>)
                promise.set_value();
            else
                promise.set_value(end.get());
        };
        begin<Value>(of, std::move(keep), out_op, start, arguments...);
        return future;
    }
};

} // namespace detail

#ifdef __cpp_impl_coroutine

/** Called with a coroutine that can go on: it resumes it, or has another thread do so. */
using resume_function = std::function<void(std::coroutine_handle<>)>;

namespace detail {

/** What a coroutine and the library's thread know of one operation. */
template <class Value> struct awaited {
    awaited(target of_, resume_function resume_) : of(std::move(of_)), resume(std::move(resume_)) {}

    target of;
    resume_function resume;
    std::uint64_t number = 0;
    std::mutex lock;
    std::optional<outcome<Value>> end;
    std::coroutine_handle<> waiter;

    /** It has ended, and the coroutine that waits goes on. */
    void finish(outcome<Value> outcome) {
        std::unique_lock<std::mutex> held(lock);
        end.emplace(std::move(outcome));
        std::coroutine_handle<> next = std::exchange(waiter, nullptr);
        held.unlock();
        if (next && resume)
            resume(next);
        else if (next)
            next.resume();
    }
};

} // namespace detail

/**
 * An operation that was started, for `co_await`, once. It goes on while nobody awaits it; destroyed before its end, it is cancelled. A
 * coroutine that is suspended in it may be destroyed as long as no other thread resumes it.
 */
template <class Value> class [[nodiscard]] awaitable {
public:
    /** Of an operation that was started. */
    explicit awaitable(std::shared_ptr<detail::awaited<Value>> state) noexcept : state_(std::move(state)) {}
    /** Takes it over, while nobody awaits it. */
    awaitable(awaitable &&) noexcept = default;
    ~awaitable() {
        if (!state_)
            return;
        {
            std::lock_guard<std::mutex> held(state_->lock);
            state_->waiter = nullptr;
            if (state_->end)
                return;
        }
        if (std::shared_ptr<trunkline_pool> pool = state_->of.place->use())
            trunkline_op_cancel(pool.get(), state_->number, nullptr);
    }

    /** The number that `pool::cancel` takes. */
    std::uint64_t number() const noexcept { return state_->number; }
    /** Whether it has ended. */
    bool await_ready() const {
        std::lock_guard<std::mutex> held(state_->lock);
        return state_->end.has_value();
    }
    /** The coroutine waits, unless the operation has ended meanwhile. */
    bool await_suspend(std::coroutine_handle<> waiter) {
        std::lock_guard<std::mutex> held(state_->lock);
        if (state_->end)
            return false;
        state_->waiter = waiter;
        return true;
    }
    /** What it gave. Throws what it failed with, an `error`. */
    Value await_resume() { return state_->end->get(); }

private:
    std::shared_ptr<detail::awaited<Value>> state_;
};

namespace detail {

/** A coroutine waits for the end. */
struct awaitable_form {
    target of;
    resume_function resume;

    template <class Value, class Start, class Enqueue, class... Arguments>
    awaitable<Value> run(Start start, Enqueue, Arguments... arguments) const {
        auto state = std::make_shared<awaited<Value>>(of, resume);
        auto keep = [state](outcome<Value> end) { state->finish(std::move(end)); };
        begin<Value>(of, std::move(keep), &state->number, start, arguments...);
        return awaitable<Value>(std::move(state));
    }
};

} // namespace detail

#endif

/** What a pool, a session and a lease have in common: their operations in the forms that do not wait. */
template <class Self, template <class> class Operations> class operation_forms {
public:
    /**
     * Its operations; each ends in `queue`, with `tag`. They return the number that `pool::cancel` takes; `pool::take_lease` gives the
     * lease of an item.
     */
    Operations<detail::queue_form> on_queue(const queue &queue, std::uint64_t tag) const {
        return Operations<detail::queue_form>({target_of(), queue.raw(), tag});
    }
    /**
     * Its operations, at whose end `function` is called with an `outcome`, on a thread of the library that must not be held up. They return
     * the number that `pool::cancel` takes. What the function throws goes nowhere.
     */
    template <class Function> Operations<detail::callback_form<Function>> with_callback(Function function) const {
        return Operations<detail::callback_form<Function>>({target_of(), std::move(function)});
    }
#ifdef __cpp_impl_coroutine
    /**
     * Its operations for `co_await`: they start at once. The coroutine goes on where `resume` has it go on; without one that is a thread of
     * the library, which must not be held up, and where functions that wait are refused.
     */
    Operations<detail::awaitable_form> awaitable(resume_function resume = {}) const {
        return Operations<detail::awaitable_form>({target_of(), std::move(resume)});
    }
#endif

protected:
    /** Its operations with a future each; where the number that `pool::cancel` takes is put. */
    Operations<detail::future_form> futures(std::uint64_t *out_op) const {
        return Operations<detail::future_form>({target_of(), out_op});
    }

private:
    detail::target target_of() const { return static_cast<const Self &>(*this).target(); }
};

} // namespace trunkline

#endif
