// Errors, and the two ways to report them. Part of quire.hpp.
#ifndef QUIRE_RESULT_HPP
#define QUIRE_RESULT_HPP

#include <quire.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#if !defined(QUIRE_NO_EXCEPTIONS) && !defined(__cpp_exceptions)
#define QUIRE_NO_EXCEPTIONS
#endif

// The two modes have different names for the linker, so that files compiled either way can meet.
#ifdef QUIRE_NO_EXCEPTIONS
#define QUIRE_MODE returning
#else
#define QUIRE_MODE throwing
#endif

namespace quire {
inline namespace QUIRE_MODE {

enum class status : std::int32_t {
    ok = QUIRE_OK,
    bad_argument = QUIRE_BAD_ARGUMENT,
    bad_handle = QUIRE_BAD_HANDLE,
    forked = QUIRE_FORKED,
    not_found = QUIRE_NOT_FOUND,
    options_differ = QUIRE_OPTIONS_DIFFER,
    not_a_cache = QUIRE_NOT_A_CACHE,
    newer_format = QUIRE_NEWER_FORMAT,
    corrupt = QUIRE_CORRUPT,
    disk_full = QUIRE_DISK_FULL,
    no_permission = QUIRE_NO_PERMISSION,
    io = QUIRE_IO,
    would_deadlock = QUIRE_WOULD_DEADLOCK,
    timeout = QUIRE_TIMEOUT,
    resync = QUIRE_RESYNC,
    again = QUIRE_AGAIN,
    wrong_thread = QUIRE_WRONG_THREAD,
    busy = QUIRE_BUSY,
    snapshot_expired = QUIRE_SNAPSHOT_EXPIRED,
    bad_response = QUIRE_BAD_RESPONSE,
    unclean = QUIRE_UNCLEAN,
    unavailable = QUIRE_UNAVAILABLE,
    in_doubt = QUIRE_IN_DOUBT,
    misconfigured = QUIRE_MISCONFIGURED,
    snapshots_open = QUIRE_SNAPSHOTS_OPEN
};

inline const char *name(status code) noexcept
{
    return quire_status_name(static_cast<quire_status>(code));
}

// Why a call failed: the status, the operating system's number (0 if none), and one English sentence.
class error : public std::exception {
public:
    explicit error(quire::status code) : error(code, 0, name(code)) {}
    error(quire::status code, int os_error, std::string message)
        : code_(code), os_error_(os_error), message_(std::move(message))
    {
    }

    // The error of the call that has just returned `code` on this thread.
    static error last(quire_status code)
    {
        quire_error what = QUIRE_ERROR_INIT;
        if (quire_last_error(&what) == QUIRE_OK && what.status == code && what.message != nullptr)
            return {static_cast<quire::status>(code), what.os_error, what.message};
        return error(static_cast<quire::status>(code));
    }

    quire::status status() const noexcept { return code_; }
    int os_error() const noexcept { return os_error_; }
    const char *what() const noexcept override { return message_.c_str(); }

private:
    quire::status code_;
    int os_error_;
    std::string message_;
};

// A value, or the reason why there is none. Looking at what is not there aborts.
template <class T>
class [[nodiscard]] result {
public:
    result(T value) : state_(std::move(value)) {}
    result(quire::error why) : state_(std::move(why)) {}

    explicit operator bool() const noexcept { return state_.index() == 0; }
    T &value() & { return *get<0>(); }
    const T &value() const & { return *const_cast<result *>(this)->get<0>(); }
    T &&value() && { return std::move(*get<0>()); }
    T &operator*() & { return value(); }
    T &&operator*() && { return std::move(*this).value(); }
    T *operator->() { return get<0>(); }
    const quire::error &error() const { return *const_cast<result *>(this)->get<1>(); }

private:
    template <std::size_t Index>
    auto *get()
    {
        auto *found = std::get_if<Index>(&state_);
        if (found == nullptr) std::abort();
        return found;
    }

    std::variant<T, quire::error> state_;
};

template <>
class [[nodiscard]] result<void> {
public:
    result() = default;
    result(quire::error why) : why_(std::move(why)) {}

    explicit operator bool() const noexcept { return !why_.has_value(); }
    const quire::error &error() const
    {
        if (!why_) std::abort();
        return *why_;
    }

private:
    std::optional<quire::error> why_;
};

#ifdef QUIRE_NO_EXCEPTIONS
template <class T>
using may = result<T>;
#else
template <class T>
using may = T;
#endif

namespace detail {

// Every function ends with this. It returns the value, or reports the failure as its mode does.
#ifdef QUIRE_NO_EXCEPTIONS
template <class T>
result<T> finish(quire_status code, T value)
{
    if (code != QUIRE_OK) return error::last(code);
    return result<T>(std::move(value));
}

inline result<void> finish(quire_status code)
{
    if (code != QUIRE_OK) return error::last(code);
    return {};
}

template <class T>
result<T> fail(quire::error why)
{
    return why;
}
#else
inline void finish(quire_status code)
{
    if (code != QUIRE_OK) throw error::last(code);
}

template <class T>
T finish(quire_status code, T value)
{
    finish(code);
    return value;
}

template <class T>
[[noreturn]] T fail(quire::error why)
{
    throw why;
}
#endif

// The same for calls with a status that means "there is none".
template <class T>
may<std::optional<T>> finish_unless(quire_status none, quire_status code, T value)
{
    if (code == none) return finish(QUIRE_OK, std::optional<T>());
    return finish(code, std::optional<T>(std::move(value)));
}

// Calls C++ from a C callback: no exception may leave it. rethrow() lets it go on afterwards.
class callback_guard {
public:
#ifdef QUIRE_NO_EXCEPTIONS
    template <class Call>
    quire_status run(Call &&call)
    {
        return call();
    }
    void rethrow() {}
#else
    template <class Call>
    quire_status run(Call &&call) noexcept
    {
        caught_ = nullptr;
        try {
            return call();
        } catch (const error &failure) {
            caught_ = std::current_exception();
            return static_cast<quire_status>(failure.status());
        } catch (...) {
            caught_ = std::current_exception();
            return QUIRE_BAD_ARGUMENT; // any failure undoes the batch; rethrow() hides the number
        }
    }
    void rethrow()
    {
        if (caught_) std::rethrow_exception(std::exchange(caught_, nullptr));
    }

private:
    std::exception_ptr caught_;
#endif
};

} // namespace detail
} // namespace QUIRE_MODE
} // namespace quire

#endif
