/// Inputs, and the files in them whose names can number their pages.
public struct InputListing: Sendable {
    /// The inputs in the order in which they were given.
    public let inputs: [Input]
    /// The files in the order in which they are read: each file, and for an archive those in it that the
    /// options choose. Nil for standard input alone, which is read only once.
    public var files: [PageFile]? { places?.map(\.file) }
    private let places: [Place]?

    private struct Place: Sendable {
        let file: PageFile
        let input: Int
        /// Its number in the archive; nil if it is in none.
        var entry: Int?
    }

    /// Lists the files.
    ///
    /// To list a packed archive, it is unpacked as far as its first file without a number. What cannot be
    /// read is left out; ``PageReader`` says why.
    public init(_ inputs: [Input], _ options: InputOptions) {
        self.inputs = inputs
        if inputs.contains(where: \.isStandardInput) {
            places = inputs.count == 1 ? nil : inputs.indices.map { Place(file: inputs[$0].file, input: $0) }
        } else {
            places = inputs.indices.flatMap { Self.places(in: inputs[$0], $0, options) }
        }
    }

    private static func places(in input: Input, _ index: Int, _ options: InputOptions) -> [Place] {
        let alone = [Place(file: input.file, input: index)]
        if input.problem != nil { return alone }
        var places: [Place] = []
        do throws(DumpError) {
            let packed = try PackedFile(input, options)
            var number = 0
            while let entry = try packed.nextEntry() {
                if entry.isEmpty { return alone }
                defer { number += 1 }
                guard PageReader.isWanted(entry, options) else { continue }
                places.append(Place(file: PageFile(path: entry), input: index, entry: number))
                if places.last?.file.number == nil { return places }
            }
        } catch {
            return places.isEmpty ? alone : places
        }
        return places
    }

    /// The inputs in the order of their newest posts, if each is a document of RSS, Atom or JSON Feed whose
    /// posts have dates, and none leads to a next page; else as they are. Names of polls (`mon.xml`) need not
    /// be in the order of time.
    public func oldestFirst(_ options: InputOptions) -> [Input] {
        let areFiles = inputs.allSatisfy { $0.problem == nil && $0.size != nil }
        if inputs.count < 2 || !areFiles { return inputs }
        var newest: [Int64] = []
        for input in inputs {
            guard let page = PageReader([input], options).next(), page.kind == .syndication,
                let response = page.response, response.asked == .head
            else { return inputs }
            if case .token = response.answer.next { return inputs }
            let dates = response.answer.posts.compactMap(\.key)
            guard dates.count == response.answer.posts.count, let last = dates.max() else { return inputs }
            newest.append(last)
        }
        return inputs.indices.sorted { (newest[$0], $0) < (newest[$1], $1) }.map { inputs[$0] }
    }

    /// The inputs, after the file with the lowest number. A crawl that begins further down takes in later
    /// what is above its first page, but nothing says then how much lies between.
    public var lowestFirst: [Input] {
        let numbered = (places ?? []).filter { inputs[$0.input].problem == nil }
        guard let lowest = numbered.min(by: { $0.file.number ?? .max < $1.file.number ?? .max }),
            lowest.input > 0 || places?.first?.entry != lowest.entry
        else { return inputs }
        var rest = inputs
        guard let entry = lowest.entry else { return [rest.remove(at: lowest.input)] + rest }
        rest[lowest.input] = rest[lowest.input].with(.allBut(entry))
        return [inputs[lowest.input].with(.only(entry))] + rest
    }
}
