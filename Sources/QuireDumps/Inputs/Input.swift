import Foundation

/// Something to read pages from, as named on the command line: a file, one of a folder, or standard input.
public struct Input: Sendable, Hashable {
    /// The file; for standard input a name for messages.
    public let file: PageFile
    /// True for standard input, which is named `-`.
    public let isStandardInput: Bool
    /// It was found in a folder that was named, not named itself.
    let isFromFolder: Bool
    /// Why it is known already that there is nothing to read.
    public let problem: DumpError?

    /// The inputs at these paths in the order given, those in a folder in natural order. What cannot be
    /// found keeps its place: the pages after it are not contiguous with those before.
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

    /// How many bytes there are to read, as stored; nil for a pipe.
    public var size: Int? { state.flatMap { $0.isRegular ? $0.size : nil } }

    /// Tells a file from the one that was there before, without reading it.
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
