// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it, jest } from "@jest/globals";
import { X509Certificate } from "node:crypto";
import { createCertificateKeeper, type CertificateStore } from "./certificate-keeper.ts";
import type { StoredCertificates } from "./certificate-state.ts";

jest.setTimeout(60_000); // machines are busy

const names = ["operator-webhook-service.ns.svc", "127.0.0.1"];
const dayMs = 24 * 3_600_000;
const timings = { validMs: 90 * dayMs, renewBeforeMs: 30 * dayMs, announceMs: 600_000 };

/** A cluster: one Secret with optimistic concurrency, clients that hear of a bundle with the next tick. */
function createCluster(startMs = Date.UTC(2026, 0, 1)) {
  const cluster = {
    nowMs: startMs,
    version: 0,
    secret: undefined as StoredCertificates | undefined,
    bundle: "",
    writes: 0,
  };

  /** A replica sees the Secret as of its last look. */
  function createReplica() {
    let seen = { version: 0, secret: cluster.secret };
    const shown: string[] = [];
    const store: CertificateStore = {
      read: () => seen.secret,
      write(stored) {
        if (seen.version !== cluster.version) return Promise.resolve("lost");
        cluster.writes += 1;
        cluster.version += 1;
        cluster.secret = stored;
        seen = { version: cluster.version, secret: stored };
        return Promise.resolve("written");
      },
      publish(bundle) {
        if (cluster.bundle === bundle) return Promise.resolve("published");
        cluster.bundle = bundle;
        return Promise.resolve("changed");
      },
    };
    const keep = createCertificateKeeper({
      ...{ store, names, timings, nowMs: () => cluster.nowMs },
      onChange: ({ cert }) => shown.push(cert),
    });
    return {
      keep,
      look: () => {
        seen = { version: cluster.version, secret: cluster.secret };
      },
      shown: () => shown.at(-1),
    };
  }
  return { cluster, createReplica };
}

function isTrusted(cert: string | undefined, bundle: string, nowMs: number): boolean {
  if (cert === undefined) return false;
  const leaf = new X509Certificate(cert);
  const authorities = bundle.match(/-----BEGIN[^]+?-----END CERTIFICATE-----/g) ?? [];
  const isValid = Date.parse(leaf.validFrom) <= nowMs && nowMs < Date.parse(leaf.validTo);
  return isValid && authorities.some((pem) => leaf.verify(new X509Certificate(pem).publicKey));
}

describe("the keeper of certificates", () => {
  it("makes one, and then has nothing to do until it is to be renewed", async () => {
    const { cluster, createReplica } = createCluster();
    const { keep, shown } = createReplica();
    await keep();
    expect(isTrusted(shown(), cluster.bundle, cluster.nowMs)).toBe(true);
    for (let round = 0; round < 3; round++) expect((await keep()).afterMs).toBe(3_600_000);
    expect(cluster.writes).toBe(1);
  });

  it("announces the next one before it shows it, and keeps the old authority after that", async () => {
    const { cluster, createReplica } = createCluster();
    const { keep, shown } = createReplica();
    await keep();
    const first = shown();
    cluster.nowMs += 60 * dayMs;
    await keep();
    expect(shown()).toBe(first);
    cluster.nowMs += 599_000;
    await keep();
    expect(shown()).toBe(first);
    cluster.nowMs += 1000;
    await keep();
    expect(shown()).not.toBe(first);
    for (const cert of [first, shown()]) expect(isTrusted(cert, cluster.bundle, cluster.nowMs)).toBe(true);
    expect(cluster.writes).toBe(3);
  });

  it("does not show one whose authority was published only now", async () => {
    const { cluster, createReplica } = createCluster();
    const { keep, shown } = createReplica();
    await keep();
    const first = shown();
    cluster.nowMs += 60 * dayMs;
    await keep();
    cluster.nowMs += 600_000;
    cluster.bundle = "overwritten";
    await keep();
    expect(shown()).toBe(first);
    await keep();
    expect(shown()).not.toBe(first);
  });

  it("makes a new one where the old one is no good: expired, broken, or for other names", async () => {
    const { cluster, createReplica } = createCluster();
    const replica = createReplica();
    await replica.keep();
    const first = replica.shown();
    cluster.nowMs += 91 * dayMs;
    await replica.keep();
    expect(isTrusted(replica.shown(), cluster.bundle, cluster.nowMs)).toBe(true);
    expect(replica.shown()).not.toBe(first);
    const secret = cluster.secret;
    cluster.secret = secret && { ...secret, current: { ...secret.current, key: "garbage" } };
    replica.look();
    await replica.keep();
    expect(isTrusted(replica.shown(), cluster.bundle, cluster.nowMs)).toBe(true);
  });

  it("makes a new one where somebody deleted it, and has the old one trusted while servers still show it", async () => {
    const { cluster, createReplica } = createCluster();
    const { keep, look, shown } = createReplica();
    await keep();
    await keep();
    const first = shown();
    cluster.secret = undefined;
    look();
    await keep();
    expect(shown()).not.toBe(first);
    for (const cert of [first, shown()]) expect(isTrusted(cert, cluster.bundle, cluster.nowMs)).toBe(true);
  });

  it("never lets two replicas fight, nor show what is not trusted, for a year of late looks", async () => {
    const { cluster, createReplica } = createCluster();
    const replicas = [createReplica(), createReplica()];
    // Each sees the other's writes at its next look only.
    for (let hour = 0; hour < 365 * 24; hour += 7) {
      for (const replica of hour % 2 === 0 ? replicas : replicas.toReversed()) {
        await replica.keep();
        replica.look();
        await replica.keep();
      }
      for (const replica of replicas) {
        expect(isTrusted(replica.shown(), cluster.bundle, cluster.nowMs)).toBe(true);
      }
      cluster.nowMs += 7 * 3_600_000;
    }
    // One at first, then two for each renewal, every 60 days.
    expect(cluster.writes).toBeLessThanOrEqual(1 + 2 * 6);
  });
});
