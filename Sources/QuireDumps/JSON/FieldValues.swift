import CJSON
import Quire

/// Reads the values of a profile's fields. Messages begin with the path: `question_id is negative`.
extension cjson_span {
    func id(_ field: IDField) throws(DumpError) -> PostID {
        switch (kind, field.type) {
        case (CJSON_STRING, .string), (CJSON_STRING, .any):
            guard let id = PostID(bytes: characters) else {
                let limit = PostID.byteLimit
                throw problem(field.path, text_length == 0 ? "is empty" : "is longer than \(limit) bytes")
            }
            return id
        case (CJSON_NEGATIVE, .any):
            // CJSON_NEGATIVE means that the number fits Int64, so this is its text.
            return PostID(String(Int64(bitPattern: integer)))!
        case (CJSON_INTEGER, .any):
            return PostID(integer)
        case (CJSON_NEGATIVE, .integer):
            throw problem(field.path, "is negative")
        case (CJSON_INTEGER, .integer):
            guard integer <= Int64.max else { throw problem(field.path, "is above 2^63 - 1") }
            return PostID(integer)
        case (_, .integer): throw mismatch(field.path, "an integer")
        case (_, .string): throw mismatch(field.path, "a string")
        case (_, .any): throw mismatch(field.path, "a string or an integer")
        }
    }

    /// Reads a sort key. `type` is the field's type, or the type that `auto` found.
    func key(_ field: KeyField, as type: Profile.KeyType) throws(DumpError) -> Int64 {
        switch type {
        case .integer, .auto:
            switch kind {
            case CJSON_NEGATIVE:
                return Int64(bitPattern: integer)
            case CJSON_INTEGER:
                guard integer <= Int64.max else { throw problem(field.path, "is above 2^63 - 1") }
                return Int64(integer)
            case CJSON_STRING:
                if let number = writtenInteger { return number }
                if field.type == .auto {
                    throw problem(field.path, "is a string, but an integer in the items before")
                }
                let text = String(decoding: characters, as: UTF8.self)
                throw problem(field.path, "is \"\(printable(text, limit: 40))\", not an integer")
            default:
                throw mismatch(field.path, field.type == .auto ? "an integer or a date" : "an integer")
            }
        case .number:
            if kind == CJSON_STRING { return OrderKey.number(try writtenNumber(field.path)) }
            guard [CJSON_NEGATIVE, CJSON_INTEGER, CJSON_FRACTION].contains(kind) else {
                throw mismatch(field.path, "a number")
            }
            return OrderKey.number(number)
        case .date:
            guard kind == CJSON_STRING else { throw mismatch(field.path, "a date") }
            guard let date = OrderKey.date(characters) else {
                let text = String(decoding: characters, as: UTF8.self)
                throw problem(field.path, "is not a date: \"\(printable(text, limit: 40))\"")
            }
            return date
        }
    }

    /// The type that `auto` finds in this value.
    var keyType: Profile.KeyType { kind == CJSON_STRING && writtenInteger == nil ? .date : .integer }

    /// The whole number in a string: `"1700000000"`; nil if it holds anything else.
    private var writtenInteger: Int64? { Int64(String(decoding: characters, as: UTF8.self)) }

    /// Returns the number in a string: `"1700000000.000200"`.
    private func writtenNumber(_ path: FieldPath) throws(DumpError) -> Double {
        let text = String(decoding: characters, as: UTF8.self)
        guard let number = OrderKey.written(text) else {
            throw problem(path, "is \"\(printable(text, limit: 40))\", not a number")
        }
        return number
    }

    /// Returns the token in this value, as written in the document `bytes`; nil if there is none.
    func token(_ path: FieldPath, in bytes: ArraySlice<UInt8>) throws(DumpError) -> String? {
        switch kind {
        case CJSON_MISSING, CJSON_NULL: return nil
        case CJSON_STRING:
            return text_length == 0 ? nil : String(decoding: characters, as: UTF8.self)
        case CJSON_NEGATIVE, CJSON_INTEGER, CJSON_FRACTION:
            return String(decoding: bytes.dropFirst(Int(start)).prefix(Int(length)), as: UTF8.self)
        default: throw mismatch(path, "a string or a number")
        }
    }

    /// Returns true or false; nil if the field is absent.
    func flag(_ path: FieldPath) throws(DumpError) -> Bool? {
        switch kind {
        case CJSON_MISSING, CJSON_NULL: return nil
        case CJSON_TRUE: return true
        case CJSON_FALSE: return false
        default: throw mismatch(path, "true or false")
        }
    }

    private func mismatch(_ path: FieldPath, _ wanted: String) -> DumpError {
        isAbsent ? absence(path) : problem(path, "is \(noun), not \(wanted)")
    }

    /// Returns the error for a missing value.
    func absence(_ path: FieldPath) -> DumpError {
        kind == CJSON_NULL ? problem(path, "is null") : DumpError(.data, "no \(path)")
    }

    private func problem(_ path: FieldPath, _ text: String) -> DumpError {
        DumpError(.data, "\(path) \(text)")
    }
}
