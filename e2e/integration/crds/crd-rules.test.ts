// SPDX-License-Identifier: Apache-2.0
/**
 * Which specs the CRDs refuse without a webhook, with which field and message, and which unusual specs they accept.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { connect, type Transport } from "@switchyard/kube";
import { startControlPlane, type ControlPlane } from "@switchyard/testing";
import { objectOf, refused, taken } from "../../src/crds/crd-cases.ts";
import { crdFolder, create, namespace, refusals } from "../../src/crds/crd-objects.ts";

const coldStartMs = 10 * 60_000;
const testMs = 60_000;

describe("Switchyard's CRDs", () => {
  let cluster: ControlPlane;
  let transport: Transport;

  beforeAll(async () => {
    cluster = await startControlPlane();
    await cluster.applyCrds(crdFolder);
    await cluster.kubectl(["create", "namespace", namespace]);
    transport = await connect({ kubeconfig: cluster.kubeconfig });
  }, coldStartMs);
  afterAll(async () => {
    await transport[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  });

  it.each(refused)(
    "refuse a %s with %j: %s",
    async (kind, spec, field, message) => {
      const said = await refusals(create(transport, objectOf(kind, spec), { dryRun: true }));
      expect(said).toEqual([{ field, message: expect.stringContaining(message) }]);
    },
    testMs,
  );

  it.each(taken.map(([kind, spec, name]) => ({ kind, spec, name, says: JSON.stringify(spec).slice(0, 100) })))(
    "accept a $kind with $says",
    async ({ kind, spec, name }) => {
      expect(await refusals(create(transport, objectOf(kind, spec, name), { dryRun: true }))).toEqual([]);
    },
    testMs,
  );

  it(
    "report all violations at once",
    async () => {
      const spec = { isRdma: true, deviceType: "vfio-pci", vdpaType: "virtio", nicSelector: { vendor: "intel" } };
      const told = await refusals(create(transport, objectOf("SriovNetworkNodePolicy", spec), { dryRun: true }));
      expect(told.map(({ field }) => field)).toEqual([
        "spec.isRdma",
        "spec.nicSelector.vendor",
        "spec.vdpaType",
        "spec.vdpaType",
      ]);
    },
    testMs,
  );
});
