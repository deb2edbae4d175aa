// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { apiVersion, operatorConfigName, type SriovOperatorConfig } from "@switchyard/api";
import { CertificatesError, type KubeCertificateStore, type StoredCertificates } from "@switchyard/certificates";
import { KubeError } from "@switchyard/kube";
import { existing } from "../components/component-sources.ts";
import { createConfigCondition } from "../reports/config-condition.ts";
import { createCluster, createKeepingWriter } from "../testing/cluster.ts";
import { certifiedServers } from "../facts/certified-servers.ts";
import { createServerCertificateReconciler } from "./server-certificate-reconciler.ts";

const dayMs = 24 * 3_600_000;

const [webhook, injector] = certifiedServers;

function setUp({ isIssuedByOperator = true, server = injector } = {}) {
  if (server === undefined) throw new RangeError("no such server");
  const { operatorConfigs } = createCluster();
  const world = {
    nowMs: Date.UTC(2026, 0, 1),
    secret: undefined as StoredCertificates | undefined,
    bundle: "",
    refusal: undefined as Error | undefined,
    foreignCa: undefined as string | undefined,
    isLost: false,
  };
  const store: KubeCertificateStore = {
    read: () => world.secret,
    write(stored) {
      if (world.refusal !== undefined) return Promise.reject(world.refusal);
      if (world.isLost) return Promise.resolve("lost");
      world.secret = stored;
      return Promise.resolve("written");
    },
    publish(bundle) {
      const answer = world.bundle === bundle ? "published" : "changed";
      world.bundle = bundle;
      return Promise.resolve(answer);
    },
    foreignCa: () => world.foreignCa,
    remove() {
      world.secret = undefined;
      return Promise.resolve();
    },
  };
  const { writer, statuses } = createKeepingWriter<SriovOperatorConfig>();
  const now = () => new Date(world.nowMs);
  const setCondition = createConfigCondition({ type: server.conditionType, writer, now });
  const reconcile = createServerCertificateReconciler({
    server,
    configs: () => ({
      spec: existing(operatorConfigs.get(operatorConfigName))?.spec,
      async report(condition, signal) {
        const config = existing(operatorConfigs.get(operatorConfigName));
        if (config !== undefined) await setCondition(config, condition, signal);
      },
    }),
    store: isIssuedByOperator ? store : undefined,
    secretName: "cert",
    names: ["injector.ns.svc"],
    nowMs: () => world.nowMs,
  });

  function configure(spec: SriovOperatorConfig["spec"], life: { readonly deletionTimestamp?: string } = {}): void {
    const status = statuses.get(operatorConfigName);
    const namespace = "sriov-network-operator";
    const config: SriovOperatorConfig = {
      apiVersion,
      kind: "SriovOperatorConfig",
      ...(status && { status }),
      ...(spec && { spec }),
      metadata: { name: operatorConfigName, namespace, uid: "1", generation: 1, ...life },
    };
    operatorConfigs.upsert(config);
  }
  return {
    world,
    configure,
    look: () => reconcile(server.component, new AbortController().signal),
    condition: () => statuses.get(operatorConfigName)?.conditions?.[0],
    conditions: () => statuses.get(operatorConfigName)?.conditions,
  };
}

describe("createServerCertificateReconciler", () => {
  it.each([
    { server: webhook, type: "WebhookCertificate", field: "enableOperatorWebhook" },
    { server: injector, type: "InjectorCertificate", field: "enableInjector" },
  ])("issues the certificate while $field is true, and reports it by $type", async ({ server, type, field }) => {
    const { world, configure, look, condition } = setUp({ server });
    const others = { enableOperatorWebhook: true, enableInjector: true, [field]: false };
    configure(others);
    await look();
    expect(world.secret).toBeUndefined();
    configure({ ...others, [field]: true });
    await look();
    expect(world.secret).toBeDefined();
    expect(condition()).toMatchObject({ type, status: "True", reason: "Valid" });
  });

  it("stores the certificate, announces its CA and reports it when the injector is enabled", async () => {
    const { world, configure, look, condition } = setUp();
    configure({ enableInjector: true });
    await look();
    expect(world.bundle).toBe(world.secret?.current.ca);
    const message = "the certificate in Secret cert is valid until 2026-04-01T00:00:00.000Z";
    expect(condition()).toMatchObject({ type: "InjectorCertificate", status: "True", reason: "Valid", message });
    expect((await look())?.afterMs).toBe(60_000);
  });

  it("renews the certificate before it expires, with both CAs announced", async () => {
    const { world, configure, look, condition } = setUp();
    configure({ enableInjector: true });
    await look();
    const first = world.secret?.current;
    world.nowMs += 61 * dayMs;
    await look(); // creates the next certificate
    world.nowMs += 600_000;
    await look();
    expect(world.secret?.current.cert).not.toBe(first?.cert);
    expect(world.secret?.current.key).not.toBe(first?.key);
    for (const ca of [first?.ca, world.secret?.current.ca]) expect(world.bundle).toContain(ca);
    expect(condition()?.message).toContain("valid until 2026-06-01");
  });

  it("says Valid of a certificate that is valid now, after the clock was ahead", async () => {
    const { world, configure, look, condition } = setUp();
    configure({ enableInjector: true });
    world.nowMs += 400 * dayMs;
    await look();
    expect(condition()?.message).toContain("valid until 2027-05");
    world.nowMs -= 400 * dayMs;
    world.refusal = new KubeError("PUT", "Forbidden", { status: 403 });
    await expect(look()).rejects.toThrow();
    expect(condition()).toMatchObject({ status: "False", reason: "Refused" });
    world.refusal = undefined;
    await look();
    expect(condition()).toMatchObject({ status: "True", reason: "Valid" });
    expect(condition()?.message).toContain("valid until 2026-04-01");
  });

  it("does not say Valid of a certificate that is not valid yet while another replica replaces it", async () => {
    const { world, configure, look, condition } = setUp();
    configure({ enableInjector: true });
    world.nowMs += 400 * dayMs;
    await look();
    configure({ enableInjector: true });
    world.nowMs -= 400 * dayMs;
    world.isLost = true;
    await look();
    expect(condition()).toMatchObject({ status: "False", reason: "NotValidNow" });
    expect(condition()?.message).toBe(
      "the certificate in Secret cert is valid from 2027-02-04T23:00:00.000Z until 2027-05-06T00:00:00.000Z, " +
        "and now it is 2026-01-01T00:00:00.000Z; the operator replaces it",
    );
  });

  it.each([
    { when: "the injector is disabled", spec: {}, life: {} },
    {
      when: "the SriovOperatorConfig is deleted",
      spec: { enableInjector: true },
      life: { deletionTimestamp: "2026-01-02T00:00:00Z" },
    },
  ])("removes the certificate if $when", async ({ spec, life }) => {
    const { world, configure, look } = setUp();
    configure({ enableInjector: true });
    await look();
    configure(spec, life);
    expect(await look()).toBeUndefined();
    expect(world.secret).toBeUndefined();
  });

  it("leaves no condition if the server is disabled", async () => {
    const { configure, look, conditions } = setUp();
    configure({ enableInjector: true });
    await look();
    configure({ enableInjector: false });
    await look();
    expect(conditions()).toEqual([]);
  });

  it("trusts the CA of a Secret that another program has filled, follows it, and issues nothing", async () => {
    const { world, configure, look, condition } = setUp();
    configure({ enableInjector: true });
    for (const ca of ["first", "second"]) {
      world.foreignCa = ca;
      await look();
      expect([world.bundle, world.secret]).toEqual([ca, undefined]);
    }
    expect(condition()).toMatchObject({ status: "True", reason: "Valid" });
    world.foreignCa = undefined; // the Secret is deleted
    await look();
    expect(world.bundle).toBe(world.secret?.current.ca);
  });

  it("does nothing if the certificate has another issuer", async () => {
    const { configure, look, conditions, world } = setUp({ isIssuedByOperator: false });
    configure({ enableInjector: true });
    expect(await look()).toBeUndefined();
    expect(conditions()).toBeUndefined();
    expect(world.secret).toBeUndefined();
  });

  it.each([
    { reason: "ForeignSecret", refusal: new CertificatesError("ForeignSecret", "ns/cert"), words: "did not issue" },
    {
      reason: "Refused",
      refusal: new KubeError("POST secrets", "Forbidden", { words: "not today" }),
      words: "not today",
    },
  ])("reports a failure with reason $reason and retries it", async ({ reason, refusal, words }) => {
    const { world, configure, look, condition } = setUp();
    world.refusal = refusal;
    configure({ enableInjector: true });
    await expect(look()).rejects.toBe(refusal);
    expect(condition()).toMatchObject({ status: "False", reason });
    expect(condition()?.message).toContain(words);
    world.refusal = undefined;
    configure({ enableInjector: true });
    await look();
    expect(condition()).toMatchObject({ status: "True", reason: "Valid" });
  });
});
