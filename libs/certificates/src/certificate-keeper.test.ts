// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { X509Certificate } from "node:crypto";
import { createCertificateKeeper, type CertificateStore } from "./certificate-keeper.ts";
import type { StoredCertificates } from "./certificate-state.ts";

const names = ["operator-webhook-service.ns.svc", "127.0.0.1"];
const dayMs = 24 * 3_600_000;
const timings = { validMs: 90 * dayMs, renewBeforeMs: 30 * dayMs, announceMs: 600_000 };

/** A cluster with one Secret, with optimistic concurrency, and one CA bundle. */
function createCluster(startMs = Date.UTC(2026, 0, 1)) {
  const cluster = {
    nowMs: startMs,
    version: 0,
    secret: undefined as StoredCertificates | undefined,
    bundle: "",
    writes: 0,
  };

  /** A replica, which sees the Secret as of its last refresh(). */
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
      store,
      names,
      timings,
      nowMs: () => cluster.nowMs,
      onChange: ({ cert }) => shown.push(cert),
    });
    return {
      keep,
      refresh: () => {
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
  return validNow(cert, nowMs) && authorities.some((pem) => leaf.verify(new X509Certificate(pem).publicKey));
}

function validNow(pem: string | undefined, nowMs: number): boolean {
  if (pem === undefined) return false;
  const { validFrom, validTo } = new X509Certificate(pem);
  return Date.parse(validFrom) <= nowMs && nowMs < Date.parse(validTo);
}

describe("createCertificateKeeper", () => {
  it("issues a certificate and then does nothing until the renewal", async () => {
    const { cluster, createReplica } = createCluster();
    const { keep, shown } = createReplica();
    await keep();
    expect(isTrusted(shown(), cluster.bundle, cluster.nowMs)).toBe(true);
    for (let round = 0; round < 3; round++) expect((await keep()).afterMs).toBe(60_000);
    expect(cluster.writes).toBe(1);
  });

  it("announces the next certificate before its use and keeps the old CA afterwards", async () => {
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

  it("does not use a certificate whose CA was published only now", async () => {
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

  it("issues a new certificate when the old one has expired or is invalid", async () => {
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
    replica.refresh();
    await replica.keep();
    expect(isTrusted(replica.shown(), cluster.bundle, cluster.nowMs)).toBe(true);
  });

  it("replaces a certificate that was issued while the clock was ahead, with its CA", async () => {
    const { cluster, createReplica } = createCluster();
    const { keep, shown } = createReplica();
    await keep();
    cluster.nowMs += 400 * dayMs;
    await keep();
    const future = cluster.secret?.current;
    cluster.nowMs -= 400 * dayMs;
    await keep();
    expect(shown()).not.toBe(future?.cert);
    expect(cluster.secret?.current.ca).not.toBe(future?.ca);
    expect(isTrusted(shown(), cluster.bundle, cluster.nowMs)).toBe(true);
    expect(validNow(cluster.secret?.current.ca, cluster.nowMs)).toBe(true);
    const writes = cluster.writes;
    await keep();
    expect(cluster.writes).toBe(writes);
  });

  it("replaces an announced certificate that was issued while the clock was ahead, and uses it at no time", async () => {
    const { cluster, createReplica } = createCluster();
    const { keep, shown } = createReplica();
    await keep();
    cluster.nowMs += 70 * dayMs; // announces the next certificate
    await keep();
    cluster.nowMs -= 5 * dayMs;
    for (let minutes = 0; minutes < 60; minutes += 1) {
      await keep();
      expect(isTrusted(shown(), cluster.bundle, cluster.nowMs)).toBe(true);
      cluster.nowMs += 60_000;
    }
    expect(validNow(cluster.secret?.current.cert, cluster.nowMs)).toBe(true);
    expect(cluster.secret?.next).toBeUndefined();
  });

  it("keeps a certificate that another replica issued while its clock was an hour ahead", async () => {
    const { cluster, createReplica } = createCluster();
    const { keep } = createReplica();
    cluster.nowMs += 3_600_000;
    await keep();
    cluster.nowMs -= 3_600_000;
    await keep();
    expect(cluster.writes).toBe(1);
  });

  it("issues a new certificate after a deletion and keeps the old CA published", async () => {
    const { cluster, createReplica } = createCluster();
    const { keep, refresh, shown } = createReplica();
    await keep();
    await keep();
    const first = shown();
    cluster.secret = undefined;
    refresh();
    await keep();
    expect(shown()).not.toBe(first);
    for (const cert of [first, shown()]) expect(isTrusted(cert, cluster.bundle, cluster.nowMs)).toBe(true);
  });

  it("has a trusted certificate on two replicas with delayed reads for a year", async () => {
    const { cluster, createReplica } = createCluster();
    const replicas = [createReplica(), createReplica()];
    // Each replica sees the writes of the other only after refresh().
    for (let hour = 0; hour < 365 * 24; hour += 7) {
      for (const replica of hour % 2 === 0 ? replicas : replicas.toReversed()) {
        await replica.keep();
        replica.refresh();
        await replica.keep();
      }
      for (const replica of replicas) {
        expect(isTrusted(replica.shown(), cluster.bundle, cluster.nowMs)).toBe(true);
      }
      cluster.nowMs += 7 * 3_600_000;
    }
    // One write at first, then two for each renewal, every 60 days.
    expect(cluster.writes).toBeLessThanOrEqual(1 + 2 * 6);
  });
});
