// SPDX-License-Identifier: Apache-2.0
/** watchSnapshot follows the objects that VFs and their pods are known by, as they change in a cluster. */
import { pods, resourceClaims, resourceSlices, sriovNetworkNodeStates } from "@switchyard/api";
import { connect, watchObjects } from "@switchyard/kube";
import type { Diagnostics } from "../terminal.ts";
import { isJsonObject, toManifest, type JsonObject, type Manifest } from "../json.ts";
import { kubeconfigOf, type ClusterSource } from "./read-cluster.ts";

export interface WatchSnapshotOptions {
  /** The kinds that may be read (readSnapshot); others are not watched. */
  readonly readKinds: readonly string[];
  /** Gets a note for each failure. Watches are retried. */
  readonly diagnostics: Pick<Diagnostics, "note">;
}

/** Changes that arrive within this time are one. */
const pauseMs = 500;

const watched = [sriovNetworkNodeStates, pods, resourceClaims, resourceSlices];

/** The kinds of the objects that watchSnapshot yields. */
export const watchedKinds: ReadonlySet<string> = new Set(watched.map(({ kind }) => kind));

/** Yields all objects: first when they have been read, then after each change. Ends only with the process. */
export async function* watchSnapshot(
  source: ClusterSource,
  { readKinds, diagnostics }: WatchSnapshotOptions,
): AsyncGenerator<readonly Manifest[], never> {
  await using transport = await connect({
    kubeconfig: kubeconfigOf(source),
    context: source.context,
    env: source.env,
    usesProxyVariables: true,
  });
  await using stack = new AsyncDisposableStack();
  const origin = source.context ?? source.kubeconfig ?? "the cluster";
  let changed = Promise.withResolvers<undefined>();
  const caches = watched
    .filter(({ kind }) => readKinds.includes(kind))
    .map((type) =>
      stack.use(
        watchObjects({
          transport,
          type,
          pageSize: 100,
          project: (object): JsonObject => (isJsonObject(object) ? object : {}),
          report(error) {
            diagnostics.note(`watching ${type.plural}: ${error instanceof Error ? error.message : String(error)}`);
          },
        }),
      ),
    );
  const never = new AbortController().signal;
  await Promise.all(caches.map((cache) => cache.whenSynced(never)));
  for (const cache of caches) {
    cache.subscribe(() => {
      changed.resolve(undefined);
    });
  }
  for (;;) {
    changed = Promise.withResolvers();
    yield caches.flatMap((cache) => cache.list().flatMap((object) => toManifest(object, origin) ?? []));
    await changed.promise;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
