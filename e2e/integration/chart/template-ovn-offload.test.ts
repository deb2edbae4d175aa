// SPDX-License-Identifier: Apache-2.0
/** The chart deploys ovn-offload with the rights of ovnOffloadIdentity, and with the settings of the operator. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { ovnOffloadIdentity } from "@switchyard/render";
import { fieldAt } from "../../src/api/plain-api.ts";
import { chartTemplates, idOf, namespace, type ChartObject, type ChartTemplates } from "./template-chart.ts";

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
    {
      clusterType: "openshift",
      ovnNamespace: "ovn-kubernetes",
      hostLabel: "example.com/host",
      network: { namespace: "kube-system", name: "smartnic" },
    },
    {
      clusterType: "kubernetes",
      ovnNamespace: "my-ovn",
      hostLabel: "network.operator.openshift.io/dpu-host",
      network: { namespace: "default", name: "default" },
    },
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

describe("the pods of ovn-offload", () => {
  const everything = {
    networkPolicy: { enabled: true },
    metrics: { podMonitor: { enabled: true } },
    operator: { podDisruptionBudget: { enabled: true } },
    ovnOffload: { enabled: true },
  };
  const monitoring = ["--api-versions", "monitoring.coreos.com/v1"];
  const selectorFields = {
    Service: ["spec", "selector"],
    PodMonitor: ["spec", "selector", "matchLabels"],
    NetworkPolicy: ["spec", "podSelector", "matchLabels"],
    PodDisruptionBudget: ["spec", "selector", "matchLabels"],
  } as const;

  it.each(Object.entries(selectorFields))("are selected by a %s of their own", async (kind, fields) => {
    const objects = await chart.objects(everything, monitoring);
    const deployments = objects.filter((object) => object["kind"] === "Deployment");
    const selecting = objects.filter((object) => object["kind"] === kind);
    const counts = deployments.map((deployment) => {
      const labels = fieldAt(deployment, "spec", "template", "metadata", "labels");
      return selecting.filter((object) => isSelected(labels, fieldAt(object, ...fields))).length;
    });
    expect(counts).toEqual([1, 1]);
  });

  it("have the probes and the security settings of the operator", async () => {
    const objects = await chart.objects(everything, monitoring);
    const [first, second] = objects
      .filter(({ kind }) => kind === "Deployment")
      .map((deployment) => {
        const pod = fieldAt(deployment, "spec", "template", "spec");
        const container = fieldAt(pod, "containers", 0);
        const shared = ["startupProbe", "livenessProbe", "readinessProbe", "securityContext", "ports"];
        return [
          ...["securityContext", "priorityClassName", "tolerations"].map((field) => fieldAt(pod, field)),
          ...shared.map((field) => fieldAt(container, field)),
        ];
      });
    expect(first).toEqual(second);
    expect(first).not.toContain(undefined);
  });
});

function isSelected(labels: unknown, selector: unknown): boolean {
  const pairs = Object.entries(selector ?? {});
  return pairs.length > 0 && pairs.every(([key, value]) => fieldAt(labels, key) === value);
}

function addressOf(object: object): string {
  return ["kind", "metadata.namespace", "metadata.name"].map((path) => fieldAt(object, ...path.split("."))).join(" ");
}
