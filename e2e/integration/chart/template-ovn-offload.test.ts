// SPDX-License-Identifier: Apache-2.0
/** The chart deploys ovn-offload with the rights of ovnOffloadIdentity, and with the settings of the operator. */
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { ovnOffloadIdentity } from "@switchyard/render";
import { fieldAt } from "../../src/plain-api.ts";
import {
  chartTemplates,
  idOf,
  metadataOf,
  namespace,
  type ChartObject,
  type ChartTemplates,
} from "./template-chart.ts";

jest.setTimeout(120_000);

const account = "sw-sriov-network-operator-ovn-offload";
let chart: ChartTemplates;

beforeAll(async () => {
  chart = await chartTemplates();
});
afterAll(() => {
  chart[Symbol.dispose]();
});

async function offloadObjects(values: {
  readonly operator?: object;
  readonly ovnOffload?: object;
  readonly [name: string]: object | undefined;
}): Promise<readonly ChartObject[]> {
  const objects = await chart.objects({ ...values, ovnOffload: { enabled: true, ...values.ovnOffload } });
  return objects.filter(
    (object) => fieldAt(object, "metadata", "labels", "app.kubernetes.io/component") === "ovn-offload",
  );
}

const rightsKinds = ["ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"];
const isRight = ({ kind }: ChartObject) => rightsKinds.includes(String(kind)) || String(kind).startsWith("Validating");

describe("the rights of ovn-offload", () => {
  it.each([
    { clusterType: "openshift", ovnNamespace: "ovn-kubernetes", hostLabel: "example.com/host" },
    { clusterType: "kubernetes", ovnNamespace: "my-ovn", hostLabel: "network.operator.openshift.io/dpu-host" },
  ] as const)("are those of ovnOffloadIdentity with $clusterType", async ({ clusterType, ...ovnOffload }) => {
    const rendered = (await offloadObjects({ operator: { clusterType }, ovnOffload })).filter(isRight);
    const { reading, limits, writing } = ovnOffloadIdentity({
      clusterType,
      ...ovnOffload,
      namespace,
      serviceAccount: account,
    });
    const wanted = [...reading, ...limits, ...writing];
    expect(rendered.map(addressOf).toSorted()).toEqual(wanted.map(addressOf).toSorted());
    for (const object of wanted) {
      const { metadata: _, ...content } = object;
      expect(rendered.find((one) => addressOf(one) === addressOf(object))).toMatchObject(content);
    }
  });

  it("are left to the administrator with rbac.create=false", async () => {
    const rendered = (await offloadObjects({ rbac: { create: false } })).filter(isRight);
    expect(rendered.map(idOf)).toEqual([`ServiceAccount/${account}`]);
  });
});

function addressOf(object: object): string {
  return ["kind", "metadata.namespace", "metadata.name"].map((path) => fieldAt(object, ...path.split("."))).join(" ");
}
