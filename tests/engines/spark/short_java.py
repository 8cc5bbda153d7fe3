"""How a Java is started that has little to do."""

RUNS_SHORTLY = " ".join(
    ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"]
)
"""Options of a Java that has little to do: nothing is compiled twice, and the classes of Spark are not checked."""
