// SPDX-License-Identifier: Apache-2.0
/**
 * Two replicas as processes that are frozen and stalled while they lead. The API server's audit log shows who wrote when.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  eventually,
  isWrite,
  spawnGuarded,
  startControlPlane,
  type AuditEvent,
  type ControlPlane,
  type GuardedProcess,
} from "@switchyard/testing";

const coldStartMs = 10 * 60_000;
const testMs = 4 * 60_000;

describe("leader election between processes", () => {
  let cluster: ControlPlane;
  const replicas = new Map<string, GuardedProcess>();
  beforeAll(async () => {
    cluster = await startControlPlane({ auditLog: true });
    await cluster.kubectl(["create", "configmap", "work"]);
  }, coldStartMs);
  afterAll(async () => {
    await Promise.all([...replicas.values()].map((replica) => replica.kill()));
    await cluster[Symbol.asyncDispose]();
  });

  function start(identity: string): GuardedProcess {
    const script = join(process.cwd(), "integration/kube/leader-election-candidate.ts");
    const log = join(cluster.dataDir, `${identity}.log`);
    const replica = spawnGuarded(process.execPath, [script, cluster.kubeconfig, identity], { log });
    replicas.set(identity, replica);
    return replica;
  }

  const writes = async () => (await cluster.auditEvents()).filter(isOnWork);
  const writer = async () => (await writes()).at(-1)?.userAgent;
  const untilWrites = (identity: string) =>
    eventually(`a write by ${identity}`, async () => (await writer()) === identity, { withinMs: 60_000, everyMs: 200 });

  it(
    "never has a write of a former leader after one of its successor, even if leaders freeze and stall",
    async () => {
      const a = start("a");
      await untilWrites("a");
      const b = start("b");
      const logOfB = () => readFile(join(cluster.dataDir, "b.log"), "utf8");

      a.signal("STOP");
      await untilWrites("b");
      a.signal("CONT"); // continues with half-sent requests

      b.signal("USR2"); // stalls for longer than the lease lasts
      await untilWrites("a");
      await eventually("b's notice", async () => (await logOfB()).includes("b leads no more"));

      a.signal("TERM"); // releases the lease
      expect(await a.exited).toBe(0);
      await untilWrites("b");
      b.signal("TERM");
      expect(await b.exited).toBe(0);

      const all = (await writes()).toSorted(byArrival).map(({ userAgent }) => userAgent);
      expect(all.filter((each, index) => each !== all[index - 1])).toEqual(["a", "b", "a", "b"]);
      const holder = await cluster.kubectl(["get", "lease", "work", "-o", "jsonpath={.spec.holderIdentity}"]);
      expect(holder).toBe("");
    },
    testMs,
  );
});

/** Whether the event is a successful write of the ConfigMap. */
function isOnWork(event: AuditEvent): boolean {
  const { objectRef, responseStatus, verb } = event;
  return isWrite(event) && verb === "patch" && objectRef?.resource === "configmaps" && responseStatus?.code === 200;
}

function byArrival(a: AuditEvent, b: AuditEvent): number {
  return a.requestReceivedTimestamp < b.requestReceivedTimestamp ? -1 : 1;
}
