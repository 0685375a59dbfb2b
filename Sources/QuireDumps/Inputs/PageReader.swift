import Foundation
import Quire

/// Reads the pages of several inputs in order. Its memory does not depend on their sizes.
///
/// A reader belongs to one thread.
///
///     let reader = PageReader(Input.list(["dump.7z"]), InputOptions(profile: profile))
///     while let page = reader.next() { … }
public final class PageReader {
    /// What the first response was found to be, if the options asked for that and it has been read.
    public private(set) var recognition: Recognition?

    private let inputs: [Input]
    private var options: InputOptions
    private var parser: PageParser
    /// Pages before this position are read again, but not returned.
    private let start: InputPage.Position
    private var position = InputPage.Position()
    private var file: PackedFile?
    /// Those of the file, if it is an archive.
    private var headers: ArchivedHeaders?
    private var document: (any DocumentReader)?
    /// The file, or the one in the archive, whose name may number the next page.
    private var named: PageFile?
    /// The bytes of the inputs before this one.
    private var consumed = 0

    /// Creates a reader that continues at the position of a page, from an earlier reader of the same inputs.
    public init(_ inputs: [Input], _ options: InputOptions, from start: InputPage.Position = .init()) {
        (self.inputs, self.options, self.start) = (inputs, options, start)
        parser = PageParser(profile: options.profile, limit: options.recordLimit)
        for input in inputs.prefix(start.inputs) { consumed += input.size ?? 0 }
        position.inputs = min(start.inputs, inputs.count)
    }

    /// Returns the next page, or why there is none in its place; nil when everything was read.
    public func next() -> InputPage? {
        while true {
            if let page = document?.next() {
                position.pages += 1
                if isBeforeStart {
                    named = nil
                    continue
                }
                return finished(page)
            }
            if document != nil { endDocument() }
            guard position.inputs < inputs.count else { return nil }
            if let failure = openNext() {
                position.pages += 1
                return finished(failure)
            }
        }
    }

    private var isBeforeStart: Bool {
        position.inputs == start.inputs && position.entries == start.entries
            && position.pages <= start.pages
    }

    private func finished(_ page: InputPage) -> InputPage {
        var page = page
        page.position = position
        page.consumed = consumed + (file?.consumed ?? 0)
        if case .passedOver = page.content { return page }
        (page.number, page.series) = (named?.number, named?.series ?? "")
        named = nil
        if options.keyIsVersion, case .response(var response) = page.content {
            for index in response.answer.posts.indices {
                response.answer.posts[index].version = response.answer.posts[index].key
            }
            page.content = .response(response)
        }
        return page
    }

    private func endDocument() {
        (document, named) = (nil, nil)
        (position.entries, position.pages) = (position.entries + 1, 0)
    }

    private func endInput() {
        consumed += inputs[position.inputs].size ?? file?.consumed ?? 0
        (file, headers, document) = (nil, nil, nil)
        (position.inputs, position.entries, position.pages) = (position.inputs + 1, 0, 0)
    }

    /// Opens the next file, or the next entry of this one. Returns the reason if that fails.
    private func openNext() -> InputPage? {
        let input = inputs[position.inputs]
        do throws(DumpError) {
            if file == nil {
                named = input.file
                if let problem = input.problem { throw problem }
                file = try PackedFile(input, options)
                headers = ArchivedHeaders(input, options)
            }
            guard !input.isOver(at: position.entries), let entry = try file!.nextEntry() else {
                endInput()
                return nil
            }
            if position.inputs == start.inputs && position.entries < start.entries
                || !input.has(position.entries) || !Self.isWanted(entry, options)
            {
                endDocument()
                return nil
            }
            if !entry.isEmpty { named = PageFile(path: entry) }
            open(input, entry)
            return nil
        } catch {
            let page = InputPage(.failure(error), kind: .response, place: input.file.path)
            endInput()
            return page
        }
    }

    private func open(_ input: Input, _ entry: String) {
        let place = entry.isEmpty ? input.file.path : "\(input.file.path): \(entry)"
        let opening = DocumentOpening(
            options: options, isOneOfMany: input.isFromFolder || !entry.isEmpty, place: place,
            sidecar: input.sidecar(of: entry, headers!))
        let window = ByteWindow(file!)
        do throws(DumpError) {
            try opening.refuseForeignText(window)
            if let wishes = options.wishes, recognition == nil,
                let found = try opening.recognise(window, wishes)
            {
                let later = LaterDocuments(options: options, wishes: wishes)
                adopt(
                    later.recognition(
                        besides: found, in: inputs[position.inputs...], skipped: position.entries))
            }
        } catch {
            document = RefusedDocument(InputPage(.failure(error), kind: .response, place: place))
            return
        }
        document = DocumentOpening(
            options: options, isOneOfMany: opening.isOneOfMany, place: place, sidecar: opening.sidecar
        ).open(window, parser)
    }

    private func adopt(_ found: Recognition) {
        recognition = found
        options.profile = found.profile
        if found.profile.name == "jsonfeed" { options.format = .syndication }
        parser = PageParser(profile: found.profile, limit: options.recordLimit)
    }

    /// Returns true for entries of an archive that match the options, or by default look like pages.
    static func isWanted(_ entry: String, _ options: InputOptions) -> Bool {
        if entry.isEmpty { return true }
        let file = PageFile(path: entry)
        if entry.hasSuffix(Sidecar.suffix) { return false }
        if let pattern = options.entries {
            return fnmatch(pattern, entry, 0) == 0 || fnmatch(pattern, file.name, 0) == 0
        }
        return file.hasPages
    }
}

/// A document of which nothing tells what it is.
private final class RefusedDocument: DocumentReader {
    private var page: InputPage?

    init(_ page: InputPage) { self.page = page }

    func next() -> InputPage? {
        defer { page = nil }
        return page
    }
}
