// SPDX-License-Identifier: Apache-2.0
/**
 * startLiveCluster puts objects, as `kubectl get` prints them, into a real API server. A plain client lists them as the command
 * did that was measured before: the same pages, of all kinds at the same time.
 */
import { customResources, nodes, pods } from "@switchyard/api";
import { collectionPath, isRecord, objectPath, type KubeObject, type ResourceType } from "@switchyard/kube";
import { startBenchCluster } from "../harness/bench-cluster.ts";
import { BenchError } from "../harness/run-control.ts";
import { createPlainClient, inParallel, metadataOnly, type PlainClient } from "../harness/plain-client.ts";
import type { Progress } from "../harness/progress.ts";

export interface LiveClusterOptions {
  readonly objects: readonly KubeObject[];
  readonly progress: Progress;
  /** Called when a process of the control plane ends. */
  readonly fail: (error: unknown) => void;
}

export interface LiveCluster extends AsyncDisposable {
  /** Kubeconfig of the measured command. */
  readonly kubeconfig: string;
  readonly kubernetes: string;
  /** Repeats the lists of the last command with a plain client. Resolves with the seconds that this takes. */
  listAgain(): Promise<number>;
}

const connections = 16;

/** Rejects with BenchError. */
export async function startLiveCluster({ objects, progress, fail }: LiveClusterOptions): Promise<LiveCluster> {
  await using parts = new AsyncDisposableStack();
  const namespaces = [...new Set(objects.flatMap(({ metadata: { namespace } }) => namespace ?? []))];
  const cluster = parts.use(await startBenchCluster({ namespaces, progress, fail }));
  let made = 0;
  progress.at("creating the objects", () => `${made} of ${objects.length}`);
  await inParallel(objects, connections, async (object) => {
    await create(cluster.admin, object);
    made += 1;
  });
  const measured = await cluster.user("switchyard");
  const plain = parts.use(createPlainClient((await cluster.user("plain")).identity, connections));
  const owned = parts.move();
  return {
    kubeconfig: measured.kubeconfig,
    kubernetes: cluster.versions.kubernetes,
    async listAgain() {
      const paths = (await measured.requests.read())
        .filter(({ verb, responseStatus }) => verb === "list" && responseStatus?.code === 200)
        .map(({ requestURI }) => requestURI);
      if (paths.length === 0) throw new BenchError("ended", "the command has listed nothing");
      const ofKind = [...Map.groupBy(paths, (path) => path.split("?", 1)[0]).values()];
      const beginMs = performance.now();
      await inParallel(ofKind, ofKind.length, async (pages) => {
        for (const path of pages) await plain.request({ method: "GET", path });
      });
      return (performance.now() - beginMs) / 1000;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const types: ReadonlyMap<string, ResourceType> = new Map(
  [...customResources, nodes, pods].map((type) => [type.kind, type]),
);

async function create(admin: PlainClient, object: KubeObject): Promise<void> {
  const type = types.get(object.kind);
  if (type === undefined) throw new BenchError("ended", `no kind ${object.kind}`);
  const { status, ...rest }: KubeObject & { readonly status?: unknown } = object;
  const { name, namespace } = object.metadata;
  await admin.request({ method: "POST", path: collectionPath(type, namespace), body: rest, accept: metadataOnly });
  if (!isRecord(status)) return;
  const path = objectPath(type, { name, namespace }, "status");
  const contentType = "application/merge-patch+json";
  await admin.request({ method: "PATCH", path, body: { status }, contentType, accept: metadataOnly });
}
