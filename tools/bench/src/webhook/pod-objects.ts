// SPDX-License-Identifier: Apache-2.0
/** podObject builds a pod as large as a real one. The webhook must keep almost nothing of it. Pure. */
import { nodeName } from "../fleet/fleet-objects.ts";

/** One pod in this many has VFs. */
const podsPerUser = 5;

export interface PodOptions {
  readonly nodes: number;
  /** Names of VF resources without their prefix. */
  readonly resources: readonly string[];
}

/** A pod of about 5 KB of JSON, as a typical Deployment creates. */
export function podObject(index: number, { nodes, resources }: PodOptions) {
  const resource = index % podsPerUser === 0 ? resources[(index / podsPerUser) % resources.length] : undefined;
  const limits = { cpu: "500m", memory: "256Mi", ...(resource && { [`openshift.io/${resource}`]: "1" }) };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `pod-${index}`,
      labels: { app: `app-${index % 50}`, "pod-template-hash": "6d4cf56db6", team: "red" },
      annotations: {
        "example.com/config-checksum": "0".repeat(64),
        ...(resource && { "k8s.v1.cni.cncf.io/networks": resource }),
      },
    },
    spec: {
      nodeName: nodeName(index % nodes),
      containers: ["main", "sidecar"].map((name, place) => ({
        name,
        image: `registry.example/team/${name}@sha256:${"0".repeat(64)}`,
        args: ["--config", "/etc/app/config.yaml", "--verbose"],
        env: Array.from({ length: 15 }, (_, variable) => ({
          name: `SETTING_${variable}`,
          value: `value of setting ${variable}`,
        })),
        resources: place === 0 ? { limits, requests: limits } : {},
        volumeMounts: [{ name: "config", mountPath: "/etc/app" }],
        livenessProbe: { httpGet: { path: "/healthz", port: 8080 }, periodSeconds: 10 },
      })),
      volumes: [{ name: "config", configMap: { name: `app-${index % 50}` } }],
      tolerations: [{ key: "example.com/dedicated", operator: "Exists", effect: "NoSchedule" }],
    },
  };
}
