// Reads the lines of conformance.json: one flat object each, of texts, integers, booleans and lists of texts.
#ifndef QUIRE_TESTS_JSON_HPP
#define QUIRE_TESTS_JSON_HPP

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace json {

using list = std::vector<std::string>;
using value = std::variant<std::string, long long, bool, list>;
using object = std::map<std::string, value>;

class reader {
public:
    explicit reader(std::string_view text) : rest_(text) {}

    object line()
    {
        object members;
        expect('{');
        while (!take('}')) {
            if (!members.empty()) expect(',');
            std::string name = text();
            expect(':');
            members.emplace(std::move(name), any());
        }
        return members;
    }

private:
    [[noreturn]] void fail() const
    {
        throw std::runtime_error("not JSON: " + std::string(rest_.substr(0, 40)));
    }

    char peek()
    {
        while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t')) rest_.remove_prefix(1);
        return rest_.empty() ? '\0' : rest_[0];
    }

    bool take(char wanted)
    {
        if (peek() != wanted) return false;
        rest_.remove_prefix(1);
        return true;
    }

    void expect(char wanted)
    {
        if (!take(wanted)) fail();
    }

    bool word(std::string_view wanted)
    {
        if (rest_.substr(0, wanted.size()) != wanted) return false;
        rest_.remove_prefix(wanted.size());
        return true;
    }

    value any()
    {
        const char first = peek();
        if (first == '"') return text();
        if (first == '[') return texts();
        if (word("true")) return true;
        if (word("false")) return false;
        return number();
    }

    list texts()
    {
        list all;
        expect('[');
        while (!take(']')) {
            if (!all.empty()) expect(',');
            peek();
            all.push_back(text());
        }
        return all;
    }

    long long number()
    {
        std::size_t used = 0;
        const std::string digits(rest_.substr(0, rest_.find_first_not_of("-0123456789")));
        if (digits.empty()) fail();
        const long long number = std::stoll(digits, &used);
        rest_.remove_prefix(used);
        return number;
    }

    unsigned unit()
    {
        if (rest_.size() < 4) fail();
        const auto unit = static_cast<unsigned>(std::stoul(std::string(rest_.substr(0, 4)), nullptr, 16));
        rest_.remove_prefix(4);
        return unit;
    }

    void escape(std::string &into)
    {
        const char kind = rest_.empty() ? '\0' : rest_[0];
        rest_.remove_prefix(rest_.empty() ? 0 : 1);
        switch (kind) {
        case 'n': into += '\n'; return;
        case 't': into += '\t'; return;
        case 'r': into += '\r'; return;
        case 'b': into += '\b'; return;
        case 'f': into += '\f'; return;
        case '"':
        case '\\':
        case '/': into += kind; return;
        case 'u': break;
        default: fail();
        }
        unsigned code = unit();
        if (code >= 0xD800 && code < 0xDC00 && word("\\u")) code = 0x10000 + ((code - 0xD800) << 10) + (unit() - 0xDC00);
        const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        const unsigned lead[] = {0, 0xC0, 0xE0, 0xF0};
        into += static_cast<char>(lead[more] | (code >> (6 * more)));
        for (int i = more - 1; i >= 0; i--) into += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3F));
    }

    std::string text()
    {
        std::string text;
        expect('"');
        while (!rest_.empty() && rest_[0] != '"') {
            const char next = rest_[0];
            rest_.remove_prefix(1);
            if (next == '\\')
                escape(text);
            else
                text += next;
        }
        if (rest_.empty()) fail();
        rest_.remove_prefix(1);
        return text;
    }

    std::string_view rest_;
};

// How a value looks in a complaint.
inline std::string show(const value &value)
{
    if (const auto *text = std::get_if<std::string>(&value)) return '"' + *text + '"';
    if (const auto *number = std::get_if<long long>(&value)) return std::to_string(*number);
    if (const auto *flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
    std::string all;
    for (const std::string &text : std::get<list>(value)) all += (all.empty() ? "" : ", ") + text;
    return "[" + all + "]";
}

} // namespace json

#endif
