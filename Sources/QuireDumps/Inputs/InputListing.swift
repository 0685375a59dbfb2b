extension Input {
    /// Returns the files whose names can number the pages of these inputs, in the order in which they are
    /// read: each file, and for an archive those in it that the options choose. Nil for standard input alone,
    /// which is read only once.
    ///
    /// To list a packed archive, it is unpacked as far as its first file without a number. What cannot be
    /// read is left out; ``PageReader`` says why.
    public static func pageFiles(in inputs: [Input], _ options: InputOptions) -> [PageFile]? {
        if inputs.contains(where: \.isStandardInput) { return inputs.count == 1 ? nil : inputs.map(\.file) }
        return inputs.flatMap { $0.pageFiles(options) }
    }

    private func pageFiles(_ options: InputOptions) -> [PageFile] {
        if problem != nil { return [file] }
        var files: [PageFile] = []
        do throws(DumpError) {
            let packed = try PackedFile(self, options)
            while let entry = try packed.nextEntry() {
                if entry.isEmpty { return [file] }
                guard PageReader.isWanted(entry, options) else { continue }
                files.append(PageFile(path: entry))
                if files.last?.number == nil { return files }
            }
        } catch {
            return files.isEmpty ? [file] : files
        }
        return files
    }
}
