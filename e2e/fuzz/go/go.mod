module switchyard/e2e/fuzz

go 1.26.0

// The version in kubectl 1.36.
require sigs.k8s.io/yaml v1.6.0

require go.yaml.in/yaml/v2 v2.4.2 // indirect
