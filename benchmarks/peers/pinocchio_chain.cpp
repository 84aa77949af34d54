// A chain of bodies by Pinocchio's articulated-body algorithm and explicit Runge-Kutta methods with fixed steps.
// The state is (q, v) in Pinocchio's conventions; q has 4 numbers for a spherical joint (x, y, z, w) and 1 for a hinge.
#include <cmath>
#include <ctime>
#include <vector>

#include <pinocchio/multibody.hpp>

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/energy.hpp>
#include <pinocchio/algorithm/kinematics.hpp>

namespace {

using Vector = Eigen::VectorXd;

double processor_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

struct Chain {
    pinocchio::Model model;
    pinocchio::Data data;
    bool spherical;
    Vector unit;  // q with unit quaternions

    Chain(pinocchio::Model built, bool spherical_joints)
        : model(std::move(built)), data(model), spherical(spherical_joints), unit(model.nq) {}

    // dq = the rate of q, dv = the accelerations. Quaternions of stages are not of unit length: the directions they
    // stand for are used, and dq/dt = q o (0, omega)/2 keeps the order of the method.
    void rates(const Vector& q, const Vector& v, Vector& dq, Vector& dv) {
        if (!spherical) {
            dq = v;
            dv = pinocchio::aba(model, data, q, v, Vector::Zero(model.nv));
            return;
        }
        for (int i = 0; i < model.njoints - 1; ++i) {
            const double x = q[4 * i], y = q[4 * i + 1], z = q[4 * i + 2], w = q[4 * i + 3];
            const double a = 0.5 * v[3 * i], b = 0.5 * v[3 * i + 1], c = 0.5 * v[3 * i + 2];
            unit.segment<4>(4 * i) = q.segment<4>(4 * i).normalized();
            dq[4 * i] = w * a + y * c - z * b;
            dq[4 * i + 1] = w * b + z * a - x * c;
            dq[4 * i + 2] = w * c + x * b - y * a;
            dq[4 * i + 3] = -x * a - y * b - z * c;
        }
        dv = pinocchio::aba(model, data, unit, v, Vector::Zero(model.nv));
    }

    void normalise(Vector& q) {
        if (spherical)
            for (int i = 0; i < model.njoints - 1; ++i) q.segment<4>(4 * i).normalize();
    }

    double energy(const Vector& q, const Vector& v) {
        return pinocchio::computeKineticEnergy(model, data, q, v) +
               pinocchio::computePotentialEnergy(model, data, q);
    }
};

}  // namespace

extern "C" {

// Bodies in a row, each joint at `length` along x of the body before it; the first is at the origin.
// axes: (n, 3) of the hinges, or null for spherical joints; inertia: principal moments about `centre`; quat: orientation
// (w, x, y, z) of the first body; omega: angular velocity of the first body, in its axes (spherical joints).
// A, b: the (stages, stages) and (stages) coefficients of an explicit Runge-Kutta method.
// points: (parts, 3) positions of `watched`, a point of the last body, at the end of each part.
// energies: at the start and at the end. Returns the seconds of the time loop alone.
double run_chain(int n, const double* axes, double mass, const double* inertia, double length, const double* centre,
                 const double* gravity, const double* quat, const double* omega, int stages, const double* A,
                 const double* b, double h, int steps, int parts, const double* watched, double* points,
                 double* energies) {
    using Eigen::Map, Eigen::Vector3d;
    const Vector3d com = Map<const Vector3d>(centre), along(length, 0.0, 0.0);
    const pinocchio::Inertia body(mass, com, Eigen::Matrix3d(Map<const Vector3d>(inertia).asDiagonal()));
    pinocchio::Model built;
    built.gravity.linear() = Map<const Vector3d>(gravity);
    pinocchio::JointIndex last = 0;
    for (int i = 0; i < n; ++i) {
        const pinocchio::SE3 at(Eigen::Matrix3d::Identity(), i ? along : Vector3d::Zero());
        const std::string name = "joint" + std::to_string(i);
        if (!axes)
            last = built.addJoint(last, pinocchio::JointModelSpherical(), at, name);
        else {
            const Vector3d axis = Map<const Vector3d>(axes + 3 * i);
            if (axis == Vector3d::UnitY())
                last = built.addJoint(last, pinocchio::JointModelRY(), at, name);
            else
                last = built.addJoint(last, pinocchio::JointModelRevoluteUnaligned(axis.normalized()), at, name);
        }
        built.appendBodyToJoint(last, body, pinocchio::SE3::Identity());
    }
    Chain chain(std::move(built), !axes);
    const int nq = chain.model.nq, nv = chain.model.nv;
    Vector q = Vector::Zero(nq), v = Vector::Zero(nv);
    if (!axes) {
        for (int i = 0; i < n; ++i) q[4 * i + 3] = 1.0;
        q.head<4>() << quat[1], quat[2], quat[3], quat[0];
        v.head<3>() = Map<const Vector3d>(omega);
    }
    energies[0] = chain.energy(q, v);
    std::vector<Vector> dq(stages, Vector(nq)), dv(stages, Vector(nv));
    Vector stage_q(nq), stage_v(nv);
    double seconds = 0.0;
    for (int part = 0; part < parts; ++part) {
        const double begun = processor_seconds();
        for (int step = 0; step < steps; ++step) {
            for (int s = 0; s < stages; ++s) {
                stage_q = q;
                stage_v = v;
                for (int k = 0; k < s; ++k) {
                    const double weight = h * A[s * stages + k];
                    if (weight != 0.0) {
                        stage_q.noalias() += weight * dq[k];
                        stage_v.noalias() += weight * dv[k];
                    }
                }
                chain.rates(stage_q, stage_v, dq[s], dv[s]);
            }
            for (int s = 0; s < stages; ++s)
                if (b[s] != 0.0) {
                    q.noalias() += h * b[s] * dq[s];
                    v.noalias() += h * b[s] * dv[s];
                }
            chain.normalise(q);
        }
        seconds += processor_seconds() - begun;
        pinocchio::forwardKinematics(chain.model, chain.data, q);
        Map<Vector3d>(points + 3 * part) = chain.data.oMi[last].act(Vector3d(Map<const Vector3d>(watched)));
    }
    energies[1] = chain.energy(q, v);
    return seconds;
}
}
