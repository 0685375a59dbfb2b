@_spi(Unstable) import Quire

extension Tuning {
    /// Chunks of three entries and hardly any room between them: what a long feed meets once in a
    /// million pages happens all the time; and of the gaps, hardly any is loaded.
    @_spi(Unstable) public static let cramped: Tuning = {
        var tuning = Tuning()
        (tuning.chunkLimit, tuning.outerStride, tuning.innerStride, tuning.gapLimit) = (3, 16, 4, 0)
        return tuning
    }()
}
