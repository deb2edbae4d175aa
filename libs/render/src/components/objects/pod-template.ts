// SPDX-License-Identifier: Apache-2.0
/**
 * PodTemplate has the types of core/v1 pods, restricted to the fields that are used. Values in atomic lists include the
 * defaults that the API server adds there, so that the stored object equals the applied one.
 */

export type Labels = Readonly<Record<string, string>>;

export interface PodTemplate {
  readonly metadata: { readonly labels: Labels; readonly annotations?: Labels };
  readonly spec: PodSpec;
}

export interface PodSpec {
  readonly serviceAccountName: string;
  readonly priorityClassName: string;
  readonly hostNetwork?: true;
  readonly shareProcessNamespace?: true;
  readonly securityContext?: { readonly runAsNonRoot: true; readonly runAsUser?: number };
  readonly nodeSelector: Labels;
  readonly affinity?: NodeAffinity | Readonly<Record<string, unknown>>;
  readonly tolerations?: readonly Toleration[];
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
}

export interface NodeAffinity {
  readonly nodeAffinity: {
    readonly requiredDuringSchedulingIgnoredDuringExecution: {
      readonly nodeSelectorTerms: readonly {
        readonly matchExpressions: readonly { readonly key: string; readonly operator: "Exists" }[];
      }[];
    };
  };
}

export interface Toleration {
  readonly key?: string;
  /** Equal if it is absent. */
  readonly operator?: "Exists" | "Equal";
  readonly value?: string;
  readonly effect?: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  readonly tolerationSeconds?: number;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number; readonly protocol: "TCP" }[];
  readonly securityContext: SecurityContext;
  readonly resources: {
    readonly requests: { readonly cpu: string; readonly memory: string };
    readonly limits?: { readonly memory: string };
  };
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly volumeMounts?: readonly VolumeMount[];
}

/** An environment variable. Without a value it is set to the empty string. */
export type EnvVar = { readonly name: string } & (
  | { readonly value?: string }
  | { readonly valueFrom: { readonly fieldRef: { readonly apiVersion: "v1"; readonly fieldPath: string } } }
);

export interface SecurityContext {
  readonly privileged?: true;
  readonly readOnlyRootFilesystem?: true;
  readonly allowPrivilegeEscalation?: false;
  readonly runAsUser?: number;
  readonly capabilities?: { readonly drop: readonly string[]; readonly add?: readonly string[] };
  readonly seccompProfile?: { readonly type: "RuntimeDefault" };
  readonly seLinuxOptions?: { readonly type: string };
}

export interface Probe {
  readonly httpGet: {
    readonly path: string;
    readonly port: number;
    readonly scheme: "HTTP";
    readonly host?: string;
  };
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  readonly failureThreshold: number;
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: true;
  readonly mountPropagation?: "Bidirectional" | "HostToContainer";
}

export type Volume = { readonly name: string } & (
  | { readonly hostPath: { readonly path: string; readonly type?: HostPathType } }
  | { readonly secret: { readonly secretName: string } }
  | { readonly emptyDir: Readonly<Record<string, never>> }
);

export type HostPathType = "Directory" | "DirectoryOrCreate" | "File" | "Socket";
