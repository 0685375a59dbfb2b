import Foundation

/// An input named on the command line: a file, a file in a folder, or standard input.
public struct Input: Sendable, Hashable {
    /// The file, or a name for standard input in messages.
    public let file: PageFile
    /// True for standard input, named `-`.
    public let isStandardInput: Bool
    /// True if it was found in a named folder and not named itself.
    let isFromFolder: Bool
    /// Which files of an archive it stands for, by their numbers from 0 on.
    private(set) var part = Part.all
    /// Why it cannot be read, if that is known already.
    public let problem: DumpError?

    /// Returns the inputs at these paths in the given order; those in a folder in natural order. A missing
    /// input keeps its place, because the pages around it are not contiguous.
    public static func list(_ paths: [String]) -> [Input] {
        paths.flatMap { path in
            if path == "-" {
                return [Input(file: PageFile(path: "standard input"), isStandardInput: true)]
            }
            do throws(DumpError) {
                let files = try PageFile.list([path])
                return files.map { Input(file: $0, isFromFolder: $0.path != path) }
            } catch {
                return [Input(file: PageFile(path: path), problem: error)]
            }
        }
    }

    private init(
        file: PageFile, isStandardInput: Bool = false, isFromFolder: Bool = false,
        problem: DumpError? = nil
    ) {
        (self.file, self.isStandardInput) = (file, isStandardInput)
        (self.isFromFolder, self.problem) = (isFromFolder, problem)
    }

    enum Part: Sendable, Hashable {
        case all
        case only(Int)
        case allBut(Int)
    }

    /// True if it stands for this file of an archive.
    func has(_ entry: Int) -> Bool {
        switch part {
        case .all: true
        case .only(let one): entry == one
        case .allBut(let one): entry != one
        }
    }

    /// True if it stands for no file of an archive from this one on.
    func isOver(at entry: Int) -> Bool {
        if case .only(let one) = part { entry > one } else { false }
    }

    func with(_ part: Part) -> Input {
        var input = self
        input.part = part
        return input
    }

    /// The stored size in bytes, 0 for one file of an archive; nil for a pipe.
    public var size: Int? {
        if case .only = part { return 0 }
        return state.flatMap { $0.isRegular ? $0.size : nil }
    }

    /// A value that differs if the file was replaced, without reading it.
    public var identity: String {
        guard let state, state.isRegular else { return file.path }
        return "\(file.path) \(state.size) \(state.modified)"
    }

    private var state: (isRegular: Bool, size: Int, modified: String)? {
        var status = stat()
        guard (isStandardInput ? fstat(STDIN_FILENO, &status) : stat(file.path, &status)) == 0 else {
            return nil
        }
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        return (status.st_mode & S_IFMT == S_IFREG, Int(status.st_size), "\(time.tv_sec).\(time.tv_nsec)")
    }
}
