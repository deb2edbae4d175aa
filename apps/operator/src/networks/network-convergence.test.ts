// SPDX-License-Identifier: Apache-2.0
/** Tests that random actions of users and other clients, with a slow cache, always end in a correct state. */
import { describe, expect, it } from "@jest/globals";
import { isKubeError, isRecord } from "@switchyard/kube";
import fc from "fast-check";
import { createNetworkCluster, operatorNamespace } from "./testing/network-cluster.ts";

type Cluster = ReturnType<typeof createNetworkCluster>;
type Act = (cluster: Cluster) => void | Promise<void>;

const kinds = ["SriovNetwork", "OVSNetwork"] as const;
const homes = [operatorNamespace, "tenant"];
const targets = [operatorNamespace, "tenant", "other"];

const kind = fc.constantFrom(...kinds);
const home = fc.constantFrom(...homes);
const place = fc.constantFrom(...targets).map((namespace) => `${namespace}/blue`);

const acts: fc.Arbitrary<Act> = fc.oneof(
  fc
    .record({ kind, home, networkNamespace: fc.constantFrom(null, ...targets), ipam: fc.constantFrom("", "", "{") })
    .map(({ kind: of, home: namespace, ...spec }): Act => {
      return (cluster) => {
        cluster.addNetwork(of, "blue", spec, namespace);
      };
    }),
  fc.record({ kind, home }).map(({ kind: of, home: namespace }): Act => {
    return (cluster) => {
      cluster.removeNetwork(of, "blue", namespace);
    };
  }),
  place.map((at): Act => (cluster) => {
    cluster.addNad(at, { config: '{"type": "macvlan"}' });
  }),
  place.map((at): Act => (cluster) => {
    cluster.removeNad(at);
  }),
  fc.constant<Act>((cluster) => {
    cluster.stop();
    cluster.start();
  }),
  fc.boolean().map((caching): Act => (cluster) => {
    cluster.api.caching = caching;
  }),
  fc.constant<Act>((cluster) => {
    cluster.collectGarbage();
  }),
  fc.constant<Act>(work),
);

/** A conflict only means that the cache lags behind. */
async function work(cluster: Cluster): Promise<void> {
  await cluster.later().catch((error: unknown) => {
    if (!isKubeError(error, "Conflict")) throw error;
  });
}

async function comeToRest(cluster: Cluster): Promise<void> {
  cluster.api.caching = true;
  for (let round = 0; round < 3; round++) {
    await cluster.later();
    cluster.collectGarbage();
  }
  await cluster.later();
}

/** Returns a short description of the objects in the API server. */
function networksOf(cluster: Cluster) {
  return kinds.flatMap((of) =>
    homes.flatMap((namespace) => {
      const network = cluster.network(of, "blue", namespace);
      if (network === undefined) return [];
      const { networkNamespace, ipam } = isRecord(network["spec"]) ? network["spec"] : {};
      const target = typeof networkNamespace === "string" ? networkNamespace : undefined;
      const isValid = ipam !== "{" && (target === undefined || namespace === operatorNamespace);
      return [
        {
          ref: `${of}.sriovnetwork.openshift.io/${namespace}/blue`,
          place: `${target ?? namespace}/blue`,
          isValid,
          isReady: cluster.ready(of, "blue", namespace).startsWith("True"),
        },
      ];
    }),
  );
}

describe("networks", () => {
  it("converge to one NetworkAttachmentDefinition for each name, and each network has a status", async () => {
    const property = fc.asyncProperty(fc.array(acts, { maxLength: 25 }), async (story) => {
      const cluster = createNetworkCluster();
      for (const act of story) await act(cluster);
      await comeToRest(cluster);

      const networks = networksOf(cluster);
      const owners = cluster.owners();
      for (const { place: at, isValid, isReady, ref } of networks) {
        // One of the valid networks owns the NAD, and the owner is ready.
        if (isValid) expect(Object.keys(owners)).toContain(at);
        expect([ref, isReady]).toEqual([ref, isValid && owners[at] === ref]);
      }
      for (const [at, owner] of Object.entries(owners)) {
        const network = networks.find(({ ref }) => ref === owner);
        if (owner !== "") expect([at, owner]).toEqual([network?.isValid ? network.place : at, network?.ref]);
        // NADs of other clients are unchanged.
        if (owner === "") expect(cluster.nad(at)).toMatchObject({ spec: { config: '{"type": "macvlan"}' } });
      }

      const written = cluster.api.writes.length;
      cluster.stop();
      cluster.start();
      await cluster.settle();
      expect(cluster.api.writes.slice(written)).toEqual([]);
    });
    await fc.assert(property, { numRuns: 300 });
  });
});
