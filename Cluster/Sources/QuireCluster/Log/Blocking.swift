import Dispatch

/// Threads for what waits for a disk: the few that all tasks share must not.
enum Blocking {
    private static let queue = DispatchQueue(label: "quire.files", attributes: .concurrent)

    static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(LogError) -> Value
    ) async throws(LogError) -> Value {
        let result: Result<Value, LogError> = await withCheckedContinuation { continuation in
            queue.async {
                do throws(LogError) {
                    continuation.resume(returning: .success(try body()))
                } catch { continuation.resume(returning: .failure(error)) }
            }
        }
        return try result.get()
    }
}
