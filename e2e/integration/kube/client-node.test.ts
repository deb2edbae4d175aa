// SPDX-License-Identifier: Apache-2.0
/**
 * @kubernetes/client-node as a reference for libs/kube: its typed client reads and writes Switchyard's kinds, and its
 * informer sees the same objects as the cache.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  type V1ObjectMeta,
} from "@kubernetes/client-node";
import {
  apiVersion,
  customResources,
  sriovNetworkNodePolicies,
  type SriovNetworkNodePolicy,
  type WithMetadata,
} from "@switchyard/api";
import { collectionPath, connect, objectPath, watchObjects, type Transport } from "@switchyard/kube";
import { eventually, startControlPlane, type ControlPlane } from "@switchyard/testing";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { growPolicy } from "./client-node-example.ts";
import { crdFolder, namespace, readManifests, workspace } from "../../src/crds/crd-objects.ts";

type Policy = WithMetadata<SriovNetworkNodePolicy, Partial<V1ObjectMeta>>;

const coldStartMs = 10 * 60_000;
const testMs = 2 * 60_000;
const kind = sriovNetworkNodePolicies.kind;

let cluster: ControlPlane;
let transport: Transport;
let kubeConfig: KubeConfig;
let api: KubernetesObjectApi;

beforeAll(async () => {
  cluster = await startControlPlane();
  await cluster.applyCrds(crdFolder);
  await cluster.kubectl(["create", "namespace", namespace]);
  transport = await connect({ kubeconfig: cluster.kubeconfig });
  kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(cluster.kubeconfig);
  api = KubernetesObjectApi.makeApiClient(kubeConfig);
}, coldStartMs);

afterAll(async () => {
  await transport[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

describe("the typed client", () => {
  it(
    "runs the example of docs/typescript.md, and the result is stored",
    async () => {
      const source = readFileSync(join(workspace, "e2e/integration/kube/client-node-example.ts"), "utf8");
      const example = source.slice(source.indexOf("import "));
      expect(readFileSync(join(workspace, "docs/typescript.md"), "utf8")).toContain(`\`\`\`ts\n${example}\`\`\``);

      const grown = await growPolicy(kubeConfig);
      expect(grown.spec).toMatchObject({ resourceName: "fast", numVfs: 8 });
      const path = objectPath(sriovNetworkNodePolicies, { name: "fast", namespace });
      const stored = await transport.request({ method: "GET", path });
      expect(stored).toMatchObject({ spec: grown.spec, metadata: { uid: grown.metadata.uid } });
      await api.delete(grown);
    },
    testMs,
  );

  it.each(customResources.map(({ plural }) => plural))(
    "creates and reads the example of %s in the reference",
    async (plural) => {
      for (const example of readManifests(`libs/api/examples/${plural}.yaml`)) {
        const metadata: Partial<V1ObjectMeta> & { name: string } = { namespace, ...example.metadata };
        const object = { ...example, metadata };
        const created = await api.create(object);
        const { spec } = example;
        expect(created).toMatchObject({ kind: example.kind, ...(spec !== undefined && { spec }) });
        expect(Object.prototype.toString.call(created.metadata.creationTimestamp)).toBe("[object Date]");
        expect(await api.read(object)).toMatchObject({ metadata: { uid: created.metadata.uid } });
        await api.delete(object);
      }
    },
    testMs,
  );
});

describe("an informer", () => {
  const policy = (index: number, numVfs = 1): Policy => ({
    apiVersion,
    kind,
    metadata: { name: `p-${index}`, namespace },
    spec: { resourceName: "r", nodeSelector: {}, nicSelector: { pfNames: ["ens1f0"] }, numVfs },
  });
  const indexes = Array.from({ length: 60 }, (_, index) => index);

  it(
    "has the same objects as Switchyard's cache after creations, patches and deletions",
    async () => {
      const path = collectionPath(sriovNetworkNodePolicies, namespace);
      const informer = makeInformer<Policy>(kubeConfig, path, () => api.list<Policy>(apiVersion, kind, namespace));
      const problems: unknown[] = [];
      informer.on("error", (error: unknown) => problems.push(error));
      await using cache = watchObjects({
        transport,
        type: sriovNetworkNodePolicies,
        namespace,
        project: (object: SriovNetworkNodePolicy) => object,
        report: (error) => problems.push(error),
      });
      const ours = () => versions(cache.list());
      const theirs = () => versions(informer.list());

      await Promise.all(indexes.slice(0, 30).map((index) => api.create(policy(index)))); // both clients list these
      await informer.start();
      await Promise.all(indexes.slice(30).map((index) => api.create(policy(index))));
      await untilBoth(indexes.length, () => true);

      const grow = (index: number) =>
        api.patch(policy(index, 8), undefined, undefined, undefined, undefined, PatchStrategy.MergePatch);
      await Promise.all(indexes.slice(0, 40).map(grow));
      await Promise.all(indexes.slice(20).map((index) => api.delete(policy(index))));
      await untilBoth(20, ({ spec }) => spec.numVfs === 8);
      await informer.stop();
      expect(problems).toEqual([]);

      /** Waits until both have `count` objects, which are all `isLike`, with the same resourceVersions. */
      async function untilBoth(count: number, isLike: (object: Pick<Policy, "spec">) => boolean) {
        const isThere = () => cache.size === count && informer.list().length === count && cache.list().every(isLike);
        await eventually(`${count} in both`, isThere, { withinMs: 30_000 });
        expect(ours()).toEqual(theirs());
        expect(informer.list().every(isLike)).toBe(true);
      }
    },
    testMs,
  );
});

/** The name and resourceVersion of each object, sorted. */
function versions(
  objects: readonly { readonly metadata: { readonly name?: string; readonly resourceVersion?: string } }[],
): readonly string[] {
  return objects.map(({ metadata }) => `${metadata.name ?? ""} ${metadata.resourceVersion ?? ""}`).sort();
}
