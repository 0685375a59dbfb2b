import ArgumentParser

@main
struct QuireBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quire-bench",
        abstract: "Measures Quire beside other ways to cache feeds, on the same data.",
        subcommands: [
            RunCommand.self, GrowthCommand.self, KindsCommand.self, JSONCommand.self, RecogniseCommand.self,
            ReportCommand.self, WorkerCommand.self,
        ])
}
