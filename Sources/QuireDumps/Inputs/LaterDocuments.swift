/// The documents after the one from which the profile was found. They decide where that one fits no profile
/// as it is: a single account has lists, too, but it is no page.
struct LaterDocuments {
    let options: InputOptions
    let wishes: Recognition.Wishes

    /// The number of documents that are looked at.
    private static let limit = 8

    /// Returns what most documents are found to be: those that begin with this one. `skipped` are the entries
    /// of the first input that were read before it. Of as many, the likeliest, then the first one.
    func recognition(besides found: Recognition, in inputs: ArraySlice<Input>, skipped: Int) -> Recognition {
        if found.likelihood == .max { return found }
        var all = [found]
        // A pipe, which has no size, is read only once.
        for (place, input) in zip(inputs.indices, inputs)
        where all.count <= Self.limit && input.problem == nil && input.size != nil {
            all += recognitions(
                in: input, after: place == inputs.startIndex ? skipped + 1 : 0,
                upTo: Self.limit + 1 - all.count)
        }
        let groups = Dictionary(grouping: all.indices) { all[$0].reading }.values
        let best = groups.max { a, b in
            (a.count, all[a[0]].likelihood, b[0]) < (b.count, all[b[0]].likelihood, a[0])
        }
        return best.map { all[$0[0]] } ?? found
    }

    /// What the documents of an input are found to be, as far as anything tells.
    private func recognitions(in input: Input, after skipped: Int, upTo count: Int) -> [Recognition] {
        var (found, entries): ([Recognition], Int) = ([], 0)
        do throws(DumpError) {
            let (file, headers) = (try PackedFile(input, options), ArchivedHeaders(input, options))
            while found.count < count, entries < skipped + Self.limit, let entry = try file.nextEntry() {
                entries += 1
                guard entries > skipped, input.has(entries - 1), PageReader.isWanted(entry, options) else {
                    continue
                }
                let opening = DocumentOpening(
                    options: options, isOneOfMany: true, place: input.file.path,
                    sidecar: input.sidecar(of: entry, headers))
                if let next = try? opening.recognise(ByteWindow(file), wishes) { found.append(next) }
            }
        } catch {
            return found  // its reader says so
        }
        return found
    }
}

extension Recognition {
    /// What two documents of one list have in common.
    fileprivate var reading: [String] { [profile.name, "\(profile.items)", "\(profile.id.path)"] }
}
