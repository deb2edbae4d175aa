// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { createStateReader, emptyView } from "@switchyard/admission";
import type { SriovNetworkNodePolicy } from "@switchyard/api";
import { createAdmittedDeletions } from "./admitted-deletions.ts";
import { paths } from "./review-server.ts";
import { namespace, startTestServer } from "../testing/review-client.ts";
import { responseOf, review } from "../testing/reviews.ts";

function policy(name: string, range: string, uid = `uid-${name}`): SriovNetworkNodePolicy {
  const nodeSelector = { "kubernetes.io/os": "linux" };
  return {
    apiVersion: "sriovnetwork.openshift.io/v1",
    kind: "SriovNetworkNodePolicy",
    metadata: { name, namespace, uid },
    spec: { resourceName: name, nodeSelector, priority: 99, numVfs: 4, nicSelector: { pfNames: [`ens1f0#${range}`] } },
  };
}

function setUp() {
  let nowMs = 0;
  const deletions = createAdmittedDeletions(() => nowMs);
  const seen = (...policies: readonly SriovNetworkNodePolicy[]) =>
    deletions.applyTo({ ...emptyView(namespace), policies }).policies.map(({ metadata }) => metadata.name);
  return {
    deletions,
    seen,
    wait: (ms: number) => {
      nowMs += ms;
    },
  };
}

describe("createAdmittedDeletions", () => {
  it("hides a policy whose deletion was admitted, but not another one of its name", () => {
    const { deletions, seen } = setUp();
    deletions.record("a", "uid-a");
    expect(seen(policy("a", "0-1"), policy("b", "2-3"))).toEqual(["b"]);
    expect(seen(policy("a", "0-1", "uid-new"), policy("b", "2-3"))).toEqual(["a", "b"]);
  });

  it("forgets a deletion that did not happen", () => {
    const { deletions, seen, wait } = setUp();
    deletions.record("a", "uid-a");
    wait(5_001);
    expect(seen(policy("a", "0-1"))).toEqual(["a"]);
  });
});

describe("several deletions in a row", () => {
  it("announce the drain with the last one, although the cache still shows all policies", async () => {
    const [first, second] = [policy("first", "0-1"), policy("second", "2-3")];
    const vfs = [0, 1, 2, 3].map((vfID) => ({
      vfID,
      pciAddress: `0000:3b:02.${vfID}`,
      driver: "iavf",
      name: `v${vfID}`,
    }));
    const pf = { pciAddress: "0000:3b:00.0", name: "ens1f0", vendor: "8086", deviceID: "158b", totalvfs: 64 };
    const interfaces = [{ ...pf, numVfs: 4, owned: true, Vfs: vfs }];
    const labels = { "node-role.kubernetes.io/worker": "", "kubernetes.io/os": "linux" };
    const nodes = [{ name: "w1", labels, state: createStateReader()({ status: { interfaces } }) }];
    const view = () => ({ ...emptyView(namespace), nodes, policies: [first, second] });
    await using server = await startTestServer({ view });
    const warningsOf = async (oldObject: SriovNetworkNodePolicy, more: object = {}) => {
      const body = review("SriovNetworkNodePolicy", "DELETE", { oldObject });
      const request = { ...body.request, name: oldObject.metadata.name, ...more };
      return (responseOf(await server.post(paths.validate, { ...body, request })).warnings ?? []).join();
    };
    expect(await warningsOf(first, { dryRun: true })).not.toContain("drains w1");
    expect(await warningsOf(second)).not.toContain("drains w1"); // a dry run deletes nothing
    expect(await warningsOf(first)).toContain("drains w1");
  });
});
