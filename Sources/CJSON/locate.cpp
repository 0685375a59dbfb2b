// simdjson's DOM does not tell where a document is broken. A broken document is read once more, slowly,
// to find the first byte that cannot be there.
#include "parser.hpp"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace {

/// Each function returns false at the first mistake and leaves `at` there.
///
/// The padding behind the document holds spaces, so one byte past the end may be looked at.
class Locator {
public:
    Locator(const char *at, const char *end, size_t depth) : at(at), end(end), depth(depth) {}

    bool document() {
        if (!value(0)) return false;
        skip_space();
        return at == end;
    }

    const char *at;

private:
    const char *const end;
    const size_t depth;

    void skip_space() {
        while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) at++;
    }

    bool take(char c) {
        if (at == end || *at != c) return false;
        at++;
        return true;
    }

    bool word(std::string_view word) {
        if (std::string_view(at, size_t(end - at)).substr(0, word.size()) != word) return false;
        at += word.size();
        return true;
    }

    bool value(size_t level) {
        skip_space();
        if (at == end) return false;
        switch (*at) {
        case '{': case '[': return level < depth && container(level);
        case '"': return string();
        case 't': return word("true");
        case 'f': return word("false");
        case 'n': return word("null");
        default: return number();
        }
    }

    bool container(size_t level) {
        const bool is_object = *at++ == '{';
        const char close = is_object ? '}' : ']';
        skip_space();
        if (take(close)) return true;
        do {
            skip_space();
            if (is_object) {
                if (at == end || *at != '"' || !string()) return false;
                skip_space();
                if (!take(':')) return false;
            }
            if (!value(level + 1)) return false;
            skip_space();
        } while (take(','));
        return take(close);
    }

    bool string() {
        const char *start = at++;
        while (at < end && *at != '"') {
            if (static_cast<unsigned char>(*at) < 0x20) return false;
            if (*at == '\\' ? !escape() : (at++, false)) return false;
        }
        if (take('"')) return true;
        // Where it was opened helps more than where the document ends.
        at = start;
        return false;
    }

    bool escape() {
        const char *start = at++;
        if (at < end && std::string_view("\"\\/bfnrt").find(*at) != std::string_view::npos) {
            at++;
            return true;
        }
        const int unit = code_unit();
        const bool is_high = unit >= 0xD800 && unit < 0xDC00;
        const int second = is_high && take('\\') ? code_unit() : 0;
        if (unit >= 0 && (!is_high || (second >= 0xDC00 && second < 0xE000))) return true;
        at = start;
        return false;
    }

    /// The number after `u`, -1 if it is malformed.
    int code_unit() {
        if (!take('u')) return -1;
        int unit = 0;
        for (int i = 0; i < 4; i++, at++) {
            constexpr std::string_view digits = "0123456789abcdef0123456789ABCDEF";
            const size_t digit = at < end ? digits.find(*at) : std::string_view::npos;
            if (digit == std::string_view::npos) return -1;
            unit = unit * 16 + int(digit % 16);
        }
        return unit;
    }

    bool digits() {
        const char *start = at;
        while (at < end && *at >= '0' && *at <= '9') at++;
        return at > start;
    }

    bool number() {
        const char *start = at;
        const bool is_negative = take('-');
        const bool is_zero = at < end && *at == '0';
        bool is_integer = true;
        bool is_sound = is_zero ? take('0') && !digits() : digits();
        if (is_sound && take('.')) {
            is_integer = false;
            is_sound = digits();
        }
        if (is_sound && (take('e') || take('E'))) {
            is_integer = false;
            if (!take('+')) take('-');
            is_sound = digits();
        }
        if (is_sound && is_representable(start, is_negative, is_integer)) return true;
        at = start;
        return false;
    }

    static bool is_representable(const char *start, bool is_negative, bool is_integer) {
        if (!is_integer) return !std::isinf(std::strtod(start, nullptr));
        errno = 0;
        if (is_negative) (void)std::strtoll(start, nullptr, 10);
        else (void)std::strtoull(start, nullptr, 10);
        return errno != ERANGE;
    }
};

} // namespace

int64_t cjson_parser::find_error() const {
    Locator locator(buffer.get(), buffer.get() + length, depth);
    return locator.document() ? -1 : locator.at - buffer.get();
}
