// SPDX-License-Identifier: Apache-2.0
/**
 * webhookFlags are the flags of the webhook itself. The environment variables TLS_* and DEV_MODE are upstream's
 * (sriov-operator.md E, H).
 */
import {
  durationMs,
  flag,
  listenAddress,
  oneOf,
  text,
  yesOrNo,
  type FlagKind,
  type ListenAddress,
} from "@switchyard/service";
import { cipherSuites, curvePreferences, tlsVersion } from "./server/tls-settings.ts";

/** An address that cannot be "0" (off): the webhook has to listen. */
const reviewAddress: FlagKind<ListenAddress> = {
  ...listenAddress,
  expected: "host:port",
  parse: (value) => {
    const address = listenAddress.parse(value);
    return address === "off" ? undefined : address;
  },
};

export const webhookFlags = {
  listenAddress: flag(reviewAddress, {
    default: ":6443",
    env: "LISTEN_ADDRESS",
    help: "Address at which the webhook serves admission reviews over HTTPS.",
  }),
  tlsCertFile: flag(text("FILE"), {
    default: "/etc/tls/tls.crt",
    env: "TLS_CERT_FILE",
    help: "File with the server certificate in PEM format. It is read again when it changes.",
  }),
  tlsPrivateKeyFile: flag(text("FILE"), {
    default: "/etc/tls/tls.key",
    env: "TLS_PRIVATE_KEY_FILE",
    help: "File with the private key of the certificate in PEM format.",
  }),
  reviewPathsFile: flag(text("FILE"), {
    default: "/etc/tls/review-paths",
    env: "REVIEW_PATHS_FILE",
    help: "File with the secret paths of reviews, one a line, which the operator writes. Without it, reviews need no secret path.",
  }),
  reviewPath: flag(text("PATH"), {
    env: "REVIEW_PATH",
    help: "Secret path of reviews, 32 hexadecimal digits, where another program provides the certificate. It counts instead of the file.",
  }),
  tlsMinVersion: flag(tlsVersion, {
    default: "VersionTLS12",
    env: "TLS_MIN_VERSION",
    help: "Minimum TLS version.",
  }),
  tlsCipherSuites: flag(cipherSuites, {
    env: "TLS_CIPHER_SUITES",
    help: "Allowed cipher suites by IANA or OpenSSL name. Insecure ones are ignored. Default: all secure ones.",
  }),
  tlsCurvePreferences: flag(curvePreferences, {
    env: "TLS_CURVE_PREFERENCES",
    help: "Curves of the key exchange, in order of preference.",
  }),
  devMode: flag(yesOrNo, {
    default: "false",
    env: "DEV_MODE",
    help: "Accept NICs that are not in the list of supported NICs without a warning.",
  }),
  clusterType: flag(oneOf("kubernetes", "openshift"), {
    default: "kubernetes",
    env: "CLUSTER_TYPE",
    help: "Type of the cluster. On OpenShift, hosts whose OVN runs on their SmartNIC are selected by MachineConfigPools.",
  }),
  countPods: flag(yesOrNo, {
    default: "true",
    env: "COUNT_PODS",
    help: "Watch pods, so that warnings can say how many pods a change disrupts.",
  }),
  resourcePrefix: flag(text("PREFIX"), {
    default: "openshift.io",
    env: "RESOURCE_PREFIX",
    help: "Prefix of resource names, the part before the slash.",
  }),
  shutdownDelay: flag(durationMs, {
    default: "3s",
    env: "SHUTDOWN_DELAY",
    help: "How long reviews are still accepted during shutdown, while the Service still routes to this replica. At most 5s.",
  }),
};
