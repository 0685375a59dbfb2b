import ArgumentParser
import Foundation
import Quire
import QuireDumps

/// The command `quire`.
@main
struct QuireTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quire",
        abstract: "Caches feeds that arrive page by page, and knows where posts may be missing.",
        discussion: """
            quire demo shows what it does and needs no files.

            Data goes to stdout, messages go to stderr. Listings are tables for people; with --json they \
            are one object per line, whose names do not change.

            With --json, what goes to stderr is objects, too: a message, its type (error or note), the place, \
            and in the last one the exit_code.

            Exit codes: 0 fine, 1 findings or gaps, 64 wrong usage, 65 wrong data (a page that was \
            refused; a feed, gap or post that the cache does not have; a file that is no cache), 66 a \
            file or cache does not exist or may not be read, 73 a file cannot be created, 74 reading or \
            writing failed, 75 try again later, 130 stopped by Ctrl-C.
            """,
        version: "0.1.0",
        subcommands: [
            Demo.self, Pull.self, Ingest.self, Fill.self, Feeds.self, Show.self, Merge.self, Pages.self,
            Gaps.self,
            Get.self, Export.self, Watch.self, ReportCommand.self, Serve.self,
            Delete.self, Pin.self, Unpin.self, Drop.self, Rename.self, Reset.self, Prune.self,
            Doctor.self, Stat.self, Check.self, Verify.self, Repair.self, Compact.self, Copy.self,
            Profiles.self, Node.self, ClusterCommand.self, Manual.self,
        ])

    static func main() {
        // A closed pipe then is an error of write, after which the tool stops without a word.
        signal(SIGPIPE, SIG_IGN)
        // A file that must not grow (ulimit -f) then is an error of write, too.
        signal(SIGXFSZ, SIG_IGN)
        occupyStandardStreams()
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            try CommandNames.require(arguments)
            try OptionLetters.require(arguments)
            var command = try parseAsRoot()
            try command.run()
            Messages.writeEnd(0)
            end(0)
        } catch {
            end(report(error))
        }
    }

    /// Ends the process without the work of `exit`, which destroys what other threads may be using: the one
    /// that parses can be in the middle of a page, and the process aborted.
    private static func end(_ status: Int32) -> Never {
        fflush(nil)
        _exit(status)
    }

    /// A stream that was closed before the start must not become the number of the cache's file. Using
    /// it then fails.
    private static func occupyStandardStreams() {
        for stream in 0...2 as ClosedRange<Int32> where fcntl(stream, F_GETFD) < 0 {
            _ = open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY)
        }
    }

    /// Says what went wrong, and returns the exit code.
    private static func report(_ error: any Error) -> Int32 {
        switch error {
        case is OutputClosed:
            return 141
        case let code as ExitCode:
            Messages.writeEnd(code.rawValue)
            return code.rawValue
        case let failure as Failure:
            return report(failure.message, failure.status)
        case let error as QuireError:
            return report(error.message, ExitStatus(error))
        case let error as DumpError:
            return report(error.message, ExitStatus(error))
        default:
            return reportUsage(error)
        }
    }

    private static func report(_ message: String, _ status: ExitStatus) -> Int32 {
        Messages.writeEnd(message, status.rawValue)
        return status.rawValue
    }

    /// Help, and what ArgumentParser does not understand.
    private static func reportUsage(_ error: any Error) -> Int32 {
        let code = exitCode(for: error).rawValue
        let message = fullMessage(for: error)
        if code == 0 {
            let output = Output()
            do {
                try output.line(message)
                try output.flush()
            } catch { return report(error) }
        } else {
            Messages.writeEnd(Self.message(for: error), code, text: message)
        }
        return code
    }
}

/// A command that prints through an ``Output`` and ends with an exit code.
protocol ToolCommand: ParsableCommand {
    func run(_ output: Output) throws -> ExitStatus
}

extension ToolCommand {
    func run() throws {
        let output = Output()
        do {
            let status = try run(output)
            try output.flush()
            if status != .ok { throw ExitCode(status.rawValue) }
        } catch let error where !(error is OutputClosed) && !(error is ExitCode) {
            try output.flush()  // what was found before it went wrong
            throw error
        }
    }
}
