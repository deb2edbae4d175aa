// SPDX-License-Identifier: Apache-2.0
/**
 * renderPod makes a pod of `switchyard verify`. It has no capability, no service account token, a time limit, and satisfies the
 * restricted Pod Security Standard. It tolerates the taints that somebody has set on its node, but not those of Kubernetes itself,
 * such as that of a cordoned node.
 */
import { labels } from "@switchyard/api";
import { networksAnnotation } from "@switchyard/policy";
import type { ProbeSpec } from "./observation.ts";
import { probeProgram } from "./probe.gen.ts";

export interface PodOptions {
  readonly name: string;
  readonly namespace: string;
  readonly node: string;
  /** Taints of the node. */
  readonly taints: readonly Taint[];
  /** Contains Node.js 22 or later. */
  readonly image: string;
  /** Full name of the resource. */
  readonly resource: string;
  /** The NetworkAttachmentDefinition. */
  readonly network: { readonly namespace: string; readonly name: string };
  readonly spec: ProbeSpec;
  /** Time after which the kubelet ends the pod, if nobody deletes it. */
  readonly activeDeadlineSeconds: number;
}

export interface Taint {
  readonly key: string;
  readonly effect: string;
}

export const interfaceName = "net1";

export function renderPod(options: PodOptions) {
  const { name, namespace, node, taints, image, resource, network, spec, activeDeadlineSeconds } = options;
  const devices = { [resource]: "1" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace,
      labels: { [labels.verify]: spec.run, [labels.managedBy]: "switchyard-verify" },
      annotations: { [networksAnnotation]: JSON.stringify([{ ...network, interface: interfaceName }]) },
    },
    spec: {
      restartPolicy: "Never",
      activeDeadlineSeconds,
      terminationGracePeriodSeconds: 2,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      affinity: onlyOn(node),
      tolerations: taints
        .filter(({ key }) => !key.startsWith("node.kubernetes.io/"))
        .map(({ key, effect }) => ({ key, effect, operator: "Exists" })),
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65532,
        runAsGroup: 65532,
        seccompProfile: { type: "RuntimeDefault" },
      },
      containers: [
        {
          name: "probe",
          image,
          imagePullPolicy: "IfNotPresent",
          command: ["node", "--input-type=module", "--eval", literal(probeProgram)],
          env: [{ name: "SWITCHYARD_VERIFY", value: literal(JSON.stringify(spec)) }],
          resources: {
            requests: { cpu: "20m", memory: "64Mi", ...devices },
            limits: { memory: "256Mi", ...devices },
          },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
        },
      ],
    },
  };
}

/** The scheduler places the pod, so that it checks the resource. spec.nodeName would skip it. */
function onlyOn(node: string) {
  const matchFields = [{ key: "metadata.name", operator: "In", values: [node] }];
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } } };
}

/** Kubernetes replaces $(NAME) in commands and variables, and reads $$ as $. */
function literal(text: string): string {
  return text.replaceAll("$", "$$$$");
}
