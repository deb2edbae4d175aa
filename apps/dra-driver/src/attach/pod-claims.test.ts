// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { draDriverName } from "@switchyard/api";
import { pci } from "@switchyard/host/testing";
import { deviceNameOf, type ClaimRecord } from "@switchyard/render";
import { createPodClaims } from "./pod-claims.ts";

const pool = "worker-1";
const address = pci("0000:3b:02.0");
const signal = new AbortController().signal;

function recordOf(name: string, namespace = "apps"): ClaimRecord {
  return { namespace, name, uid: `uid-${name}`, devices: [{ pciAddress: address, request: "nic", isAdmin: false }] };
}

function claimOf(
  name: string,
  { pods = ["p1"], parameters = {} }: { pods?: readonly string[]; parameters?: object } = {},
) {
  const kind = { apiVersion: `${draDriverName}/v1alpha1`, kind: "VfConfig" };
  const results = [{ driver: draDriverName, pool, device: deviceNameOf(address), request: "nic" }];
  const config = [{ source: "FromClaim", opaque: { driver: draDriverName, parameters: { ...kind, ...parameters } } }];
  return {
    metadata: { namespace: "apps", name, uid: `uid-${name}` },
    status: {
      allocation: { devices: { results, config } },
      reservedFor: pods.map((uid) => ({ resource: "pods", name: uid, uid })),
    },
  };
}

const fast = { netAttachDefName: "fast" };

describe("createPodClaims", () => {
  it("returns the claims of the pod that name networks, and reads the others once, and none of other namespaces", async () => {
    const read: string[] = [];
    const claims = createPodClaims({
      pool,
      records: () => Promise.resolve([recordOf("a"), recordOf("b"), recordOf("plain"), recordOf("other", "elsewhere")]),
      readClaim({ name }) {
        read.push(name);
        if (name === "plain") return Promise.resolve(claimOf(name));
        return Promise.resolve(claimOf(name, { pods: [name === "a" ? "p1" : "p2"], parameters: fast }));
      },
    });
    const names = async (uid: string) => (await claims({ namespace: "apps", uid }, signal)).map(({ name }) => name);
    expect([await names("p1"), await names("p2"), await names("p3")]).toEqual([["a"], ["b"], []]);
    expect(read.filter((name) => name === "plain")).toHaveLength(1);
    expect(read).not.toContain("other");
  });

  it("rejects if a claim cannot be read, and for the pod whose claim is malformed", async () => {
    const records = () => Promise.resolve([recordOf("a")]);
    const refused = createPodClaims({ pool, records, readClaim: () => Promise.reject(new Error("refused")) });
    await expect(refused({ namespace: "apps", uid: "p1" }, signal)).rejects.toThrow("refused");
    const malformed = createPodClaims({
      ...{ pool, records },
      readClaim: () => Promise.resolve(claimOf("a", { parameters: { ifName: "a/b" } })),
    });
    await expect(malformed({ namespace: "apps", uid: "p1" }, signal)).rejects.toThrow("claim apps/a: ");
    expect(await malformed({ namespace: "apps", uid: "p2" }, signal)).toEqual([]);
  });

  it("leaves out a claim that has the name of the one that was prepared", async () => {
    const claim = claimOf("a", { parameters: fast });
    const readClaim = () => Promise.resolve({ ...claim, metadata: { ...claim.metadata, uid: "new" } });
    const claims = createPodClaims({ pool, records: () => Promise.resolve([recordOf("a")]), readClaim });
    expect(await claims({ namespace: "apps", uid: "p1" }, signal)).toEqual([]);
  });
});
