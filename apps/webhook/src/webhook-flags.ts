// SPDX-License-Identifier: Apache-2.0
/** The webhook's own flags; TLS_* and DEV_MODE are upstream's environment (sriov-operator.md E, H). */
import { durationMs, flag, listenAddress, text, yesOrNo, type FlagKind, type ListenAddress } from "@switchyard/service";
import { cipherSuites, curvePreferences, tlsVersion } from "./tls-settings.ts";

/** Without a place to listen there is nothing to do. */
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
    help: "Where the API server asks, over HTTPS.",
  }),
  tlsCertFile: flag(text("FILE"), {
    default: "/etc/tls/tls.crt",
    env: "TLS_CERT_FILE",
    help: "Certificate in PEM, read again when it changes.",
  }),
  tlsPrivateKeyFile: flag(text("FILE"), {
    default: "/etc/tls/tls.key",
    env: "TLS_PRIVATE_KEY_FILE",
    help: "Its private key in PEM.",
  }),
  tlsMinVersion: flag(tlsVersion, {
    default: "VersionTLS12",
    env: "TLS_MIN_VERSION",
    help: "Least version of TLS.",
  }),
  tlsCipherSuites: flag(cipherSuites, {
    env: "TLS_CIPHER_SUITES",
    help: "Cipher suites by their IANA or OpenSSL names; those that are not secure are left out.",
  }),
  tlsCurvePreferences: flag(curvePreferences, {
    env: "TLS_CURVE_PREFERENCES",
    help: "Curves of the key exchange, the preferred one first.",
  }),
  devMode: flag(yesOrNo, {
    default: "false",
    env: "DEV_MODE",
    help: "Say nothing of network cards that are not listed as supported.",
  }),
  countPods: flag(yesOrNo, {
    default: "true",
    env: "COUNT_PODS",
    help: "Watch pods, so that warnings can say how many of them a change disturbs.",
  }),
  resourcePrefix: flag(text("PREFIX"), {
    default: "openshift.io",
    env: "RESOURCE_PREFIX",
    help: "What pods write before resource names.",
  }),
  shutdownDelay: flag(durationMs, {
    default: "3s",
    env: "SHUTDOWN_DELAY",
    help: "How long reviews are still taken when the process ends, while the Service leads here; at most 5s.",
  }),
};
